//! A text in which the body of the block's `forward` is missing.

use std::ops::Range;

use rustpython_parser::ast::{ExceptHandler, Ranged, Stmt, StmtFunctionDef};

use crate::reason::Reason;
use crate::syntax;

/// What stands in the place of the body.
const MASK: &str = "raise NotImplementedError";

/// The text with the body of `forward` of the class of this name replaced, docstring included; every other byte stays.
pub(crate) fn masked(text: &str, suite: &[Stmt], class_name: &str) -> Result<String, Reason> {
    let forward = forward(suite, class_name).ok_or(Reason::NoForward)?;
    if forward.body.iter().all(is_empty) {
        return Err(Reason::NothingToFill);
    }
    let body = body_span(text, &forward.body);
    let masked = format!("{}{MASK}{}", &text[..body.start], &text[body.end..]);
    // Where the places of the parser were wrong, what was cut out of the text shows.
    syntax::parse(&masked).map(|_| masked).ok_or(Reason::ParseFail)
}

/// The method that counts for CPython: the last one, of the last class of the name.
fn forward<'t>(suite: &'t [Stmt], class_name: &str) -> Option<&'t StmtFunctionDef> {
    suite.iter().rev().find_map(|statement| match statement {
        Stmt::ClassDef(class) if class.name.as_str() == class_name => method(&class.body),
        other => branches(other).into_iter().find_map(|branch| forward(branch, class_name)),
    })
}

fn method(body: &[Stmt]) -> Option<&StmtFunctionDef> {
    body.iter().rev().find_map(|statement| match statement {
        Stmt::FunctionDef(function) if function.name.as_str() == "forward" => Some(function),
        other => branches(other).into_iter().find_map(method),
    })
}

/// What an `if` or `try` holds, what is meant for the usual case first.
fn branches(statement: &Stmt) -> Vec<&[Stmt]> {
    match statement {
        Stmt::If(node) => vec![&node.body, &node.orelse],
        Stmt::Try(node) => {
            let handlers = node.handlers.iter().map(|ExceptHandler::ExceptHandler(handler)| handler.body.as_slice());
            let usual = [node.body.as_slice(), &node.orelse, &node.finalbody];
            usual.into_iter().chain(handlers).collect()
        }
        _ => Vec::new(),
    }
}

/// `pass`, `...`, a docstring or an error.
fn is_empty(statement: &Stmt) -> bool {
    match statement {
        Stmt::Pass(_) | Stmt::Raise(_) => true,
        Stmt::Expr(node) => node.value.is_constant_expr(),
        _ => false,
    }
}

/// From the first statement to the end of the line on which the last one ends, in bytes; a comment behind it is about it.
fn body_span(text: &str, body: &[Stmt]) -> Range<usize> {
    let first = body.first().expect("a function has a body");
    let last = usize::from(body.last().expect("a function has a body").end());
    let rest_of_line = text[last..].find(['\r', '\n']).unwrap_or(text.len() - last);
    start(text, first)..last + rest_of_line
}

/// The parser's statements start behind their decorators, and the decorators behind their `@`.
fn start(text: &str, statement: &Stmt) -> usize {
    let decorators = match statement {
        Stmt::FunctionDef(node) => node.decorator_list.as_slice(),
        Stmt::AsyncFunctionDef(node) => &node.decorator_list,
        Stmt::ClassDef(node) => &node.decorator_list,
        _ => &[],
    };
    match decorators.first() {
        Some(decorator) => text[..usize::from(decorator.start())].rfind('@').expect("a decorator follows an @"),
        None => usize::from(statement.start()),
    }
}
