//! The names that statements bind in the scope in which they stand.

use std::collections::HashSet;

use rustpython_parser::ast::{self, Expr, Pattern, Stmt};

use super::parts;
use crate::syntax::names::normalized;

#[derive(Default)]
pub(super) struct Bindings {
    pub(super) names: Vec<Box<str>>,
    /// Each with its dotted path.
    pub(super) imports: Vec<(Box<str>, Box<str>)>,
}

/// What the statements bind, without names that they declare to be those of another scope.
pub(super) fn of(body: &[Stmt]) -> Bindings {
    let mut walk = Walk::default();
    walk.statements(body);
    let Walk { mut bindings, elsewhere, .. } = walk;
    bindings.names.retain(|name| !elsewhere.contains(&**name));
    bindings
}

/// Attributes of what is defined that say nothing about what it does.
const BESIDE_THE_POINT: [&str; 4] = ["__doc__", "__module__", "__name__", "__qualname__"];

/// The names whose objects a statement changes: by an element, by an attribute, or by a method whose result nobody reads.
pub(super) fn changed(statement: &Stmt) -> Vec<Box<str>> {
    let changed: Vec<&Expr> = match statement {
        Stmt::Assign(node) => node.targets.iter().collect(),
        Stmt::AugAssign(node) => vec![&node.target],
        Stmt::AnnAssign(node) if node.value.is_some() => vec![&node.target],
        Stmt::Delete(node) => node.targets.iter().collect(),
        Stmt::Expr(node) => match &*node.value {
            Expr::Call(call) => vec![&call.func],
            _ => Vec::new(),
        },
        _ => Vec::new(),
    };
    let mut names = Vec::new();
    changed.into_iter().for_each(|target| add_changed(target, &mut names));
    names.sort_unstable();
    names.dedup();
    names
}

fn add_changed(target: &Expr, names: &mut Vec<Box<str>>) {
    match target {
        Expr::Tuple(node) => node.elts.iter().for_each(|target| add_changed(target, names)),
        Expr::List(node) => node.elts.iter().for_each(|target| add_changed(target, names)),
        Expr::Starred(node) => add_changed(&node.value, names),
        Expr::Attribute(node) if !BESIDE_THE_POINT.contains(&node.attr.as_str()) => names.extend(root(target)),
        Expr::Subscript(_) => names.extend(root(target)),
        _ => {}
    }
}

/// The name from which elements and attributes are taken.
fn root(expression: &Expr) -> Option<Box<str>> {
    match expression {
        Expr::Name(node) => Some(normalized(&node.id).into()),
        Expr::Attribute(node) => root(&node.value),
        Expr::Subscript(node) => root(&node.value),
        _ => None,
    }
}

#[derive(Default)]
struct Walk<'s> {
    bindings: Bindings,
    known: HashSet<Box<str>>,
    elsewhere: HashSet<&'s str>,
}

impl<'s> Walk<'s> {
    fn statements(&mut self, body: &'s [Stmt]) {
        for statement in body {
            self.statement(statement);
            if !parts::is_definition(statement) {
                parts::bodies(statement).into_iter().for_each(|body| self.statements(body));
            }
        }
    }

    fn statement(&mut self, statement: &'s Stmt) {
        match statement {
            Stmt::FunctionDef(node) => self.name(&node.name),
            Stmt::AsyncFunctionDef(node) => self.name(&node.name),
            Stmt::ClassDef(node) => self.name(&node.name),
            Stmt::TypeAlias(node) => self.expression(&node.name),
            Stmt::Global(node) => self.elsewhere.extend(node.names.iter().map(ast::Identifier::as_str)),
            Stmt::Nonlocal(node) => self.elsewhere.extend(node.names.iter().map(ast::Identifier::as_str)),
            Stmt::Import(node) => {
                for alias in &node.names {
                    let first = alias.name.split('.').next().unwrap_or_default();
                    let (name, path) = alias.asname.as_deref().map_or((first, first), |name| (name, &*alias.name));
                    self.bindings.imports.push((normalized(name).into(), path.into()));
                }
            }
            Stmt::ImportFrom(node) => {
                let dots = ".".repeat(node.level.map_or(0, |level| level.to_usize()));
                let module = node.module.as_deref().unwrap_or_default();
                for alias in &node.names {
                    let name = alias.asname.as_deref().unwrap_or(&alias.name);
                    let path = format!("{dots}{module}.{}", alias.name);
                    self.bindings.imports.push((normalized(name).into(), path.into()));
                }
            }
            Stmt::Try(node) => self.handlers(&node.handlers),
            Stmt::TryStar(node) => self.handlers(&node.handlers),
            Stmt::Match(node) => node.cases.iter().for_each(|case| self.pattern(&case.pattern)),
            _ => {}
        }
        parts::heads(statement).into_iter().for_each(|head| self.expression(head));
    }

    fn handlers(&mut self, handlers: &[ast::ExceptHandler]) {
        for ast::ExceptHandler::ExceptHandler(handler) in handlers {
            handler.name.iter().for_each(|name| self.name(name));
        }
    }

    fn pattern(&mut self, pattern: &Pattern) {
        match pattern {
            Pattern::MatchAs(node) => node.name.iter().for_each(|name| self.name(name)),
            Pattern::MatchStar(node) => node.name.iter().for_each(|name| self.name(name)),
            Pattern::MatchMapping(node) => node.rest.iter().for_each(|name| self.name(name)),
            _ => {}
        }
        parts::inner_patterns(pattern).into_iter().for_each(|inner| self.pattern(inner));
    }

    fn expression(&mut self, expression: &Expr) {
        match expression {
            Expr::Name(node) if parts::is_bound(node.ctx) => self.name(&node.id),
            Expr::NamedExpr(node) => {
                self.expression(&node.target);
                self.expression(&node.value);
            }
            Expr::Lambda(node) => parts::defaults(&node.args).for_each(|default| self.expression(default)),
            Expr::ListComp(node) => self.comprehension(&node.generators, [&*node.elt]),
            Expr::SetComp(node) => self.comprehension(&node.generators, [&*node.elt]),
            Expr::GeneratorExp(node) => self.comprehension(&node.generators, [&*node.elt]),
            Expr::DictComp(node) => self.comprehension(&node.generators, [&*node.key, &*node.value]),
            _ => parts::children(expression).into_iter().for_each(|child| self.expression(child)),
        }
    }

    /// Its targets are its own; what `:=` binds in it is not.
    fn comprehension<'e>(
        &mut self,
        generators: &'e [ast::Comprehension],
        elements: impl IntoIterator<Item = &'e Expr>,
    ) {
        let inner = generators.iter().flat_map(|generator| std::iter::once(&generator.iter).chain(&generator.ifs));
        inner.chain(elements).for_each(|expression| self.expression(expression));
    }

    fn name(&mut self, name: &str) {
        let name: Box<str> = normalized(name).into();
        if self.known.insert(name.clone()) {
            self.bindings.names.push(name);
        }
    }
}
