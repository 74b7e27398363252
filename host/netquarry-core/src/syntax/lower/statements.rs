//! Statements.

use rustpython_parser::ast::{self, Ranged};

use super::expressions::lazy;
use super::{Context, Lookup, Lowerer};
use crate::facts::{Access, BindingKind, Evaluation, Role, StatementKind};
use crate::syntax::scopes::MODULE;
use crate::syntax::text::Span;

/// The kind of a top-level statement.
pub(super) fn kind(statement: &ast::Stmt) -> StatementKind {
    match statement {
        ast::Stmt::ClassDef(_) => StatementKind::Class,
        ast::Stmt::FunctionDef(_) | ast::Stmt::AsyncFunctionDef(_) => StatementKind::Function,
        ast::Stmt::Import(_) | ast::Stmt::ImportFrom(_) => StatementKind::Import,
        ast::Stmt::Assign(_) | ast::Stmt::AnnAssign(_) | ast::Stmt::TypeAlias(_) => StatementKind::Assign,
        ast::Stmt::AugAssign(_) => StatementKind::AugAssign,
        ast::Stmt::Expr(_) => StatementKind::Expression,
        ast::Stmt::Delete(_) => StatementKind::Delete,
        ast::Stmt::If(statement) if is_main_guard(statement) => StatementKind::MainGuard,
        ast::Stmt::If(_) => StatementKind::If,
        ast::Stmt::Try(_) | ast::Stmt::TryStar(_) => StatementKind::Try,
        ast::Stmt::With(_) | ast::Stmt::AsyncWith(_) => StatementKind::With,
        ast::Stmt::For(_) | ast::Stmt::AsyncFor(_) | ast::Stmt::While(_) => StatementKind::Loop,
        ast::Stmt::Match(_) => StatementKind::Match,
        ast::Stmt::Return(_)
        | ast::Stmt::Raise(_)
        | ast::Stmt::Assert(_)
        | ast::Stmt::Global(_)
        | ast::Stmt::Nonlocal(_)
        | ast::Stmt::Pass(_)
        | ast::Stmt::Break(_)
        | ast::Stmt::Continue(_) => StatementKind::Other,
    }
}

/// `if __name__ == "__main__":` without an `else`, which would run on import.
fn is_main_guard(statement: &ast::StmtIf) -> bool {
    let ast::Expr::Compare(test) = &*statement.test else {
        return false;
    };
    let ([ast::CmpOp::Eq], [right]) = (test.ops.as_slice(), test.comparators.as_slice()) else {
        return false;
    };
    let is_name = |side: &ast::Expr| matches!(side, ast::Expr::Name(name) if name.id.as_str() == "__name__");
    let is_main = |side: &ast::Expr| {
        matches!(side, ast::Expr::Constant(constant)
            if matches!(&constant.value, ast::Constant::Str(text) if text == "__main__"))
    };
    let is_either = is_name(&test.left) && is_main(right) || is_main(&test.left) && is_name(right);
    is_either && statement.orelse.is_empty()
}

impl Lowerer<'_> {
    pub(super) fn statement(&mut self, statement: &ast::Stmt) {
        if self.context.scope == MODULE {
            self.export_statement(statement);
        }
        match statement {
            ast::Stmt::FunctionDef(_) | ast::Stmt::AsyncFunctionDef(_) => self.function(statement),
            ast::Stmt::ClassDef(class) => self.class(class),
            ast::Stmt::Import(import) => self.import(import),
            ast::Stmt::ImportFrom(import) => self.import_from(import),
            ast::Stmt::Assign(assign) => self.assign(assign),
            ast::Stmt::AugAssign(assign) => {
                let end = Span::from(assign.range).end;
                self.binding_at(end, |lowerer| lowerer.target(&assign.target, BindingKind::Augmented));
                self.value(&assign.value);
            }
            ast::Stmt::AnnAssign(assign) => self.annotated_assign(assign),
            ast::Stmt::TypeAlias(alias) => self.type_alias(alias),
            ast::Stmt::Delete(delete) => {
                delete.targets.iter().for_each(|target| self.target(target, BindingKind::Deletion));
            }
            ast::Stmt::Expr(expression) => self.expression_statement(&expression.value),
            ast::Stmt::Return(statement) => self.optional_value(statement.value.as_deref()),
            ast::Stmt::Raise(raise) => {
                self.optional_value(raise.exc.as_deref());
                self.optional_value(raise.cause.as_deref());
            }
            ast::Stmt::Assert(assert) => {
                self.value(&assert.test);
                self.optional_value(assert.msg.as_deref());
            }
            ast::Stmt::Global(global) => self.global(global),
            ast::Stmt::Nonlocal(nonlocal) => self.nonlocal(nonlocal),
            ast::Stmt::Pass(_) | ast::Stmt::Break(_) | ast::Stmt::Continue(_) => {}
            ast::Stmt::If(_)
            | ast::Stmt::For(_)
            | ast::Stmt::AsyncFor(_)
            | ast::Stmt::While(_)
            | ast::Stmt::Try(_)
            | ast::Stmt::TryStar(_)
            | ast::Stmt::With(_)
            | ast::Stmt::AsyncWith(_)
            | ast::Stmt::Match(_) => self.compound(statement),
        }
    }

    fn assign(&mut self, assign: &ast::StmtAssign) {
        self.keys_of_assignment(&assign.targets, &assign.value);
        self.note_dictionary(&assign.value);
        let constant = self.constant_bound(&assign.value);
        let end = Span::from(assign.range).end;
        for target in &assign.targets {
            self.binding_at(end, |lowerer| lowerer.target(target, BindingKind::Assignment));
        }
        if let [ast::Expr::Name(name)] = assign.targets.as_slice() {
            self.note_constant(name, constant);
        }
        if let [target] = assign.targets.as_slice() {
            let value = self.written(&assign.value);
            self.note_local_values(target, value);
        }
        self.value(&assign.value);
    }

    fn annotated_assign(&mut self, assign: &ast::StmtAnnAssign) {
        // `(x): int` is no declaration; the parser does not tell it from `x: int`.
        let is_parenthesised = assign.start() != assign.target.start();
        let end = Span::from(assign.range).end;
        match &*assign.target {
            ast::Expr::Name(name) => match &assign.value {
                Some(value) => {
                    self.note_dictionary(value);
                    let constant = self.constant_bound(value);
                    self.binding_at(end, |lowerer| {
                        let symbol = lowerer.bind(&name.id, name.range.into(), BindingKind::Assignment);
                        if !is_parenthesised && lowerer.records() {
                            lowerer.scopes.entry_mut(lowerer.context.scope, symbol).annotated = true;
                        }
                    });
                    self.note_constant(name, constant);
                    let value = self.written(value);
                    self.note_local_values(&assign.target, value);
                }
                None if is_parenthesised => {}
                None => {
                    self.bind(&name.id, name.range.into(), BindingKind::Declaration);
                }
            },
            target => self.target(target, BindingKind::Assignment),
        }
        // Python evaluates the annotations of variables in module and class bodies only.
        if self.context.in_function && !self.in_class_body() {
            let context = Context { evaluation: Evaluation::Never, ..self.context };
            self.within(context, |lowerer| lowerer.annotation(&assign.annotation));
        } else {
            self.draft_annotation(&assign.annotation);
            self.annotation(&assign.annotation);
        }
        self.optional_value(assign.value.as_deref());
    }

    fn type_alias(&mut self, alias: &ast::StmtTypeAlias) {
        self.target(&alias.name, BindingKind::Assignment);
        let scope = self.open_type_parameters(alias.range.into(), &alias.type_params);
        let scope = scope.unwrap_or(self.context.scope);
        let context = Context { scope, evaluation: lazy(self.context.evaluation), ..self.context };
        self.within(context, |lowerer| lowerer.value(&alias.value));
    }

    fn expression_statement(&mut self, expression: &ast::Expr) {
        let ast::Expr::Call(call) = expression else {
            self.value(expression);
            return;
        };
        self.call_statement(call);
        let before = self.draft.statement.calls.len();
        self.value(expression);
        let range = self.text.original_range(call.range.into());
        let calls = &mut self.draft.statement.calls[before..];
        if let Some(whole) = calls.iter_mut().find(|inner| inner.range == range) {
            whole.statement_in = Some(self.context.suite);
        }
    }

    fn global(&mut self, global: &ast::StmtGlobal) {
        let mut position = Span::from(global.range).start + "global".len() as u32;
        for name in &global.names {
            let span = self.text.identifier_at(self.text.skip(position, b","));
            position = span.end;
            let symbol = self.mangled(name);
            self.scopes.entry_mut(self.context.scope, symbol).declared_global = true;
            self.scopes.entry_mut(MODULE, symbol).declared_global = true;
            // At module level the statement says nothing.
            if self.context.scope != MODULE {
                self.note_use(symbol, span, Access::Store, Role::Value, Lookup::Globals);
            }
        }
    }

    fn nonlocal(&mut self, nonlocal: &ast::StmtNonlocal) {
        for name in &nonlocal.names {
            let symbol = self.mangled(name);
            self.scopes.entry_mut(self.context.scope, symbol).declared_nonlocal = true;
        }
    }
}
