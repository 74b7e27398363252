//! Statements with blocks, but for definitions.

use rustpython_parser::ast::{self, Ranged};

use super::targets::is_own_item;
use super::{Context, Lowerer};
use crate::facts::{BindingKind, Evaluation, Guard};
use crate::syntax::text::Span;

impl Lowerer<'_> {
    pub(super) fn compound(&mut self, statement: &ast::Stmt) {
        match statement {
            ast::Stmt::If(statement) => self.if_statement(statement),
            ast::Stmt::For(statement) => {
                self.for_statement(&statement.target, &statement.iter, &statement.body, &statement.orelse);
            }
            ast::Stmt::AsyncFor(statement) => {
                self.for_statement(&statement.target, &statement.iter, &statement.body, &statement.orelse);
            }
            ast::Stmt::While(statement) => {
                self.value(&statement.test);
                self.conditional_suite(Guard::Loop, &statement.body);
                self.conditional_suite(Guard::Loop, &statement.orelse);
            }
            ast::Stmt::Try(statement) => {
                self.try_statement(&statement.body, &statement.handlers, &statement.orelse, &statement.finalbody);
            }
            ast::Stmt::TryStar(statement) => {
                self.try_statement(&statement.body, &statement.handlers, &statement.orelse, &statement.finalbody);
            }
            ast::Stmt::With(statement) => self.with_statement(&statement.items, &statement.body),
            ast::Stmt::AsyncWith(statement) => self.with_statement(&statement.items, &statement.body),
            ast::Stmt::Match(statement) => self.match_statement(statement),
            _ => unreachable!("the caller passes compound statements"),
        }
    }

    /// An `elif` is an `if` that stands alone in the `else`; chains of them are walked in a loop.
    fn if_statement(&mut self, statement: &ast::StmtIf) {
        let mut current = statement;
        loop {
            self.value(&current.test);
            match type_checking(&current.test) {
                Some(true) => self.type_checking_suite(&current.body),
                None if declares_lazy_module(current) => self.type_checking_suite(&current.body),
                Some(false) | None => self.conditional_suite(Guard::If, &current.body),
            }
            match current.orelse.as_slice() {
                [ast::Stmt::If(next)] if self.is_elif(next) => current = next,
                _ => break,
            }
        }
        if type_checking(&current.test) == Some(false) {
            self.type_checking_suite(&current.orelse);
        } else {
            self.conditional_suite(Guard::If, &current.orelse);
        }
    }

    /// A block that runs in no Python program.
    fn type_checking_suite(&mut self, body: &[ast::Stmt]) {
        let context = Context { evaluation: Evaluation::Never, ..self.context };
        self.within(context, |lowerer| lowerer.conditional_suite(Guard::TypeChecking, body));
    }

    fn is_elif(&self, statement: &ast::StmtIf) -> bool {
        self.text.slice(self.text.identifier_at(Span::from(statement.range).start)) == "elif"
    }

    fn for_statement(&mut self, target: &ast::Expr, iter: &ast::Expr, body: &[ast::Stmt], orelse: &[ast::Stmt]) {
        // Over nothing, the target stays unbound.
        let context = Context { conditional: true, ..self.context };
        let bound_from = Span::from(iter.range()).end;
        self.within(context, |lowerer| {
            lowerer.binding_at(bound_from, |lowerer| lowerer.target(target, BindingKind::Capture));
        });
        let first = self.first_of(iter);
        self.note_local_values(target, first);
        self.value(iter);
        self.conditional_suite(Guard::Loop, body);
        self.conditional_suite(Guard::Loop, orelse);
    }

    fn try_statement(
        &mut self,
        body: &[ast::Stmt],
        handlers: &[ast::ExceptHandler],
        orelse: &[ast::Stmt],
        finalbody: &[ast::Stmt],
    ) {
        let guard = if handlers.iter().any(catches_import_error) { Guard::TryImport } else { Guard::Try };
        self.conditional_suite(guard, body);
        self.conditional_suite(Guard::TryRest, orelse);
        for ast::ExceptHandler::ExceptHandler(handler) in handlers {
            self.optional_value(handler.type_.as_deref());
            let context = Context { conditional: true, ..self.context };
            self.within(context, |lowerer| {
                if let Some(name) = &handler.name {
                    let span = lowerer.handler_name(handler);
                    lowerer.bind(name, span, BindingKind::Capture);
                }
                lowerer.guarded_suite(Guard::Handler, &handler.body);
            });
        }
        self.guarded_suite(Guard::TryRest, finalbody);
    }

    /// The `name` of `except E as name`.
    fn handler_name(&self, handler: &ast::ExceptHandlerExceptHandler) -> Span {
        let kind = handler.type_.as_ref().expect("a handler with a name has a type");
        let word = self.text.identifier_at(self.text.skip(kind.end().into(), b")"));
        debug_assert_eq!(self.text.slice(word), "as");
        self.text.identifier_at(self.text.skip_trivia(word.end))
    }

    fn with_statement(&mut self, items: &[ast::WithItem], body: &[ast::Stmt]) {
        for item in items {
            self.value(&item.context_expr);
            if let Some(target) = &item.optional_vars {
                self.target(target, BindingKind::Capture);
            }
        }
        self.guarded_suite(Guard::With, body);
    }
}

/// Whether a test fails whenever the file runs because of `TYPE_CHECKING` (true), or holds because of it (false).
fn type_checking(test: &ast::Expr) -> Option<bool> {
    match test {
        ast::Expr::Name(name) if name.id.as_str() == "TYPE_CHECKING" => Some(true),
        ast::Expr::Attribute(attribute) if attribute.attr.as_str() == "TYPE_CHECKING" => Some(true),
        ast::Expr::BoolOp(and) if and.op == ast::BoolOp::And => {
            and.values.iter().any(|value| type_checking(value) == Some(true)).then_some(true)
        }
        ast::Expr::UnaryOp(not) if not.op == ast::UnaryOp::Not => type_checking(&not.operand).map(|is| !is),
        _ => None,
    }
}

/// Whether the statement tells type checkers what the object gives that it puts in the module's place:
///
/// ```python
/// if TYPE_CHECKING or EAGER:
///     from .block import Block
/// else:
///     sys.modules[__name__] = LazyModule(__name__, {"block": ["Block"]})
/// ```
///
/// Whichever branch runs, the names are the same ones.
fn declares_lazy_module(statement: &ast::StmtIf) -> bool {
    let ast::Expr::BoolOp(or) = &*statement.test else { return false };
    let mentions = or.op == ast::BoolOp::Or && or.values.iter().any(|value| type_checking(value) == Some(true));
    mentions && statement.orelse.iter().any(replaces_module)
}

/// `sys.modules[__name__] = ...`
fn replaces_module(statement: &ast::Stmt) -> bool {
    let ast::Stmt::Assign(assignment) = statement else { return false };
    assignment.targets.iter().any(|target| {
        let ast::Expr::Subscript(item) = target else { return false };
        let is_modules = matches!(&*item.value, ast::Expr::Attribute(modules) if modules.attr.as_str() == "modules");
        is_modules && is_own_item(item)
    })
}

fn catches_import_error(handler: &ast::ExceptHandler) -> bool {
    let ast::ExceptHandler::ExceptHandler(handler) = handler;
    let is_import_error = |kind: &ast::Expr| {
        let name = match kind {
            ast::Expr::Name(name) => name.id.as_str(),
            ast::Expr::Attribute(attribute) => attribute.attr.as_str(),
            _ => return false,
        };
        matches!(name, "BaseException" | "Exception" | "ImportError" | "ModuleNotFoundError")
    };
    match handler.type_.as_deref() {
        None => true,
        Some(ast::Expr::Tuple(kinds)) => kinds.elts.iter().any(is_import_error),
        Some(kind) => is_import_error(kind),
    }
}
