//! Statements of functions whose results nobody reads.

use std::collections::{HashMap, HashSet};

use rustpython_parser::ast::{self, Expr, Stmt};

use super::parts;

/// Takes out of the body of a function what computes values for names that are read only to compute more of the kind.
/// Whatever calls something, stores into an object, changes one in place, or leaves the function or a loop, stays, and all that it needs.
pub(super) fn sweep(body: &mut Vec<Stmt>) {
    let mut lines = Vec::new();
    collect(body, None, &mut lines);
    let is_live = live(&lines);
    take_out(body, &mut is_live.into_iter());
}

/// A statement of the function, however deep.
struct Line<'s> {
    reads: Vec<&'s str>,
    binds: Vec<&'s str>,
    has_effect: bool,
    /// The number of the statement in which it stands.
    inside: Option<usize>,
}

fn collect<'s>(body: &'s [Stmt], inside: Option<usize>, lines: &mut Vec<Line<'s>>) {
    for statement in body {
        let number = lines.len();
        lines.push(line(statement, inside));
        if !parts::is_definition(statement) {
            parts::bodies(statement).into_iter().for_each(|body| collect(body, Some(number), lines));
        }
    }
}

fn line(statement: &Stmt, inside: Option<usize>) -> Line<'_> {
    let mut line = Line { reads: Vec::new(), binds: Vec::new(), has_effect: has_effect(statement), inside };
    for head in parts::heads(statement) {
        parts::each(head, &mut |expression| line.expression(expression));
    }
    match statement {
        // They are read by others.
        Stmt::Global(node) => line.reads.extend(node.names.iter().map(ast::Identifier::as_str)),
        Stmt::Nonlocal(node) => line.reads.extend(node.names.iter().map(ast::Identifier::as_str)),
        Stmt::AugAssign(node) => parts::each(&node.target, &mut |target| {
            if let Expr::Name(name) = target {
                line.reads.push(&name.id);
            }
        }),
        Stmt::FunctionDef(node) => line.definition(&node.name, &node.body),
        Stmt::AsyncFunctionDef(node) => line.definition(&node.name, &node.body),
        Stmt::ClassDef(node) => line.definition(&node.name, &node.body),
        _ => {}
    }
    line
}

impl<'s> Line<'s> {
    fn expression(&mut self, expression: &'s Expr) {
        match expression {
            Expr::Name(node) if parts::is_bound(node.ctx) => self.binds.push(&node.id),
            Expr::Name(node) => self.reads.push(&node.id),
            Expr::Attribute(node) => self.has_effect |= parts::is_bound(node.ctx),
            Expr::Subscript(node) => self.has_effect |= parts::is_bound(node.ctx),
            Expr::Call(_) | Expr::Await(_) | Expr::Yield(_) | Expr::YieldFrom(_) | Expr::NamedExpr(_) => {
                self.has_effect = true;
            }
            _ => {}
        }
    }

    /// Whatever a function or class in the function names may be read when it runs.
    fn definition(&mut self, name: &'s str, body: &'s [Stmt]) {
        self.binds.push(name);
        parts::each_in(body, &mut |expression| {
            if let Expr::Name(node) = expression {
                self.reads.push(&node.id);
            }
        });
    }
}

fn has_effect(statement: &Stmt) -> bool {
    match statement {
        Stmt::FunctionDef(node) => !node.decorator_list.is_empty(),
        Stmt::AsyncFunctionDef(node) => !node.decorator_list.is_empty(),
        Stmt::ClassDef(node) => !node.decorator_list.is_empty(),
        // What `+=` changes in place may be others' too.
        Stmt::Assign(_) | Stmt::AnnAssign(_) | Stmt::Expr(_) | Stmt::If(_) | Stmt::Pass(_) => false,
        _ => true,
    }
}

fn live(lines: &[Line<'_>]) -> Vec<bool> {
    let mut binders: HashMap<&str, Vec<usize>> = HashMap::new();
    for (number, line) in lines.iter().enumerate() {
        line.binds.iter().for_each(|name| binders.entry(name).or_default().push(number));
    }
    let mut is_live = vec![false; lines.len()];
    let mut read = HashSet::new();
    let mut waiting: Vec<usize> = (0..lines.len()).filter(|number| lines[*number].has_effect).collect();
    while let Some(number) = waiting.pop() {
        if std::mem::replace(&mut is_live[number], true) {
            continue;
        }
        let Line { reads, inside, .. } = &lines[number];
        waiting.extend(inside);
        let newly = reads.iter().filter(|name| read.insert(**name));
        waiting.extend(newly.filter_map(|name| binders.get(name)).flatten());
    }
    is_live
}

/// Takes the statements in the order of [`collect`].
fn take_out(body: &mut Vec<Stmt>, is_live: &mut impl Iterator<Item = bool>) {
    body.retain_mut(|statement| {
        let stays = is_live.next().expect("every statement was collected");
        if !parts::is_definition(statement) {
            parts::bodies_mut(statement).into_iter().for_each(|body| take_out(body, is_live));
        }
        stays
    });
}
