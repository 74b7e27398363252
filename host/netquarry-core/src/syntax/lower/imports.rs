//! Import statements.

use rustpython_parser::ast;

use super::{Lookup, Lowerer};
use crate::facts::{Access, BindingKind, ImportForm, ImportStatement, ImportedName, Role, ScopeId, Symbol};
use crate::syntax::scopes::MODULE;
use crate::syntax::text::Span;

/// Whether a module has `from __future__ import annotations`, which is valid at its top level only.
pub(super) fn future_annotations(body: &[ast::Stmt]) -> bool {
    body.iter().any(|statement| match statement {
        ast::Stmt::ImportFrom(import) => {
            import.module.as_ref().is_some_and(|module| module.as_str() == "__future__")
                && import.names.iter().any(|alias| alias.name.as_str() == "annotations")
        }
        _ => false,
    })
}

impl Lowerer<'_> {
    pub(super) fn import(&mut self, import: &ast::StmtImport) {
        self.import_statement(import.range.into(), ImportForm::Module, &import.names);
    }

    pub(super) fn import_from(&mut self, import: &ast::StmtImportFrom) {
        let level = import.level.map_or(0, |level| level.to_u32());
        let module = import.module.as_ref().map(|module| self.names.identifier(module));
        let span = Span::from(import.range);
        match import.names.as_slice() {
            [alias] if alias.name.as_str() == "*" => {
                self.import_statement(span, ImportForm::Star { level, module }, &[]);
                // Whatever it brings may bind a name anew.
                self.constants.clear();
                let star = self.names.intern("*");
                let import = self.last_import();
                let kind = BindingKind::Import { import, name: 0 };
                self.bind_global(star, self.context.scope, alias.range.into(), kind);
            }
            names => self.import_statement(span, ImportForm::From { level, module }, names),
        }
    }

    fn last_import(&self) -> u32 {
        u32::try_from(self.draft.statement.imports.len() - 1).expect("a file has fewer imports than bytes")
    }

    fn import_statement(&mut self, span: Span, form: ImportForm, aliases: &[ast::Alias]) {
        let names = aliases.iter().map(|alias| ImportedName {
            name: self.names.identifier(&alias.name),
            alias: alias.asname.as_ref().map(|name| self.names.identifier(name)),
            range: self.text.original_range(alias.range.into()),
        });
        let names = names.collect();
        self.draft.statement.imports.push(ImportStatement {
            range: self.text.original_range(span),
            form,
            names,
            scope: self.context.scope,
            stands_in: self.context.scope,
            guards: self.guards.clone(),
            suite: self.context.suite,
        });
        let import = self.last_import();
        for (name, alias) in (0..).zip(aliases) {
            let scope = self.bind_import(alias, BindingKind::Import { import, name }, (import, name));
            self.draft.statement.imports[import as usize].scope = scope;
        }
    }

    /// Returns the scope in which the name is bound.
    fn bind_import(&mut self, alias: &ast::Alias, kind: BindingKind, import: (u32, u32)) -> ScopeId {
        let scope = self.context.scope;
        let name = self.bound_name(alias);
        let entry = self.scopes.entry_mut(scope, name);
        entry.imported = true;
        entry.binders += 1;
        entry.import.get_or_insert(import);
        entry.bound_from.get_or_insert(Span::from(alias.range).end);
        if !self.is_global(scope, name) {
            return scope;
        }
        let span = Span::from(alias.range);
        if self.context.in_function {
            let identifier = match alias.asname {
                Some(_) => self.text.identifier_before(span.end),
                None => self.text.identifier_at(span.start),
            };
            self.note_use(name, identifier, Access::Store, Role::Value, Lookup::Globals);
        } else {
            self.bind_global(name, scope, span, kind);
        }
        MODULE
    }

    /// `c` for `a.b as c`, `a` for `a.b`.
    fn bound_name(&mut self, alias: &ast::Alias) -> Symbol {
        match &alias.asname {
            Some(name) => self.mangled(name),
            None => self.mangled(alias.name.split('.').next().expect("`split` yields at least once")),
        }
    }
}
