//! From what the walk noted to the facts: uses and mutations are looked up in the finished scopes.

use super::{Draft, Lookup, Lowerer, MutationCandidate, Use, empty_statement};
use crate::facts::{
    Effect, FileFacts, LocalValue, Mutation, MutationKind, Reference, ReferenceBinding, Scope, ScopeId, ScopeKind,
    Statement, StatementKind, Symbol,
};
use crate::syntax::scopes::{MODULE, Resolution};

pub(super) fn facts(mut lowerer: Lowerer<'_>) -> FileFacts {
    let drafts = std::mem::take(&mut lowerer.finished);
    let statements = drafts.into_iter().map(|draft| lowerer.finish(draft)).collect();
    let scopes = lowerer.scopes.iter().map(|(scope, _)| lowerer.finished_scope(scope)).collect();
    FileFacts {
        statements,
        scopes,
        future_annotations: lowerer.future_annotations,
        exports: lowerer.exports,
        diagnostics: Vec::new(),
        symbols: lowerer.names.into_symbols(),
    }
}

impl Lowerer<'_> {
    fn finish(&self, draft: Draft) -> Statement {
        let mut statement = draft.statement;
        if statement.kind == StatementKind::MainGuard {
            // It never runs when the module is imported.
            return empty_statement(statement.range, statement.leading_comments, statement.kind);
        }
        statement.references = draft.uses.iter().filter_map(|used| self.reference(used)).collect();
        statement.references.sort_by_key(|reference| reference.range);
        for candidate in draft.mutations {
            let function = candidate.function;
            match (self.finished_mutation(candidate), function) {
                (Some(mutation), Some(function)) => {
                    let effect = Effect { function, mutation };
                    if !statement.effects.contains(&effect) {
                        statement.effects.push(effect);
                    }
                }
                (Some(mutation), None) => statement.mutations.push(mutation),
                (None, _) => {}
            }
        }
        statement.bindings.sort_by_key(|binding| binding.range);
        statement.keys.sort_by_key(|key| key.range);
        statement.keys.dedup();
        statement.annotations.sort_unstable();
        statement.local_values = draft.local_values.into_iter().filter(|value| self.is_only_value(value)).collect();
        statement.local_values.sort_by_key(|value| value.scope);
        statement
    }

    /// The reference that a use is, if it means a global or a locally imported name.
    fn reference(&self, used: &Use) -> Option<Reference> {
        let path = &self.attributes[used.path.0 as usize..used.path.1 as usize];
        Some(Reference {
            name: used.name,
            range: self.text.original_range(used.span),
            path: path.to_vec(),
            assigns: used.assigns,
            scope: used.scope,
            binding: self.reference_binding(used)?,
            access: used.access,
            evaluation: used.evaluation,
            role: used.role,
            quoted: matches!(used.lookup, Lookup::Quoted | Lookup::QuotedGlobals | Lookup::QuotedIfBound),
        })
    }

    fn reference_binding(&self, used: &Use) -> Option<ReferenceBinding> {
        let resolution = match used.lookup {
            Lookup::Globals | Lookup::QuotedGlobals => return Some(ReferenceBinding::Module),
            Lookup::QuotedIfBound => return self.module_binds(used.name).then_some(ReferenceBinding::Module),
            Lookup::Scopes | Lookup::Quoted | Lookup::BeforeBinding => self.resolve(used.scope, used.name),
        };
        match resolution {
            Resolution::Module => Some(ReferenceBinding::Module),
            Resolution::Local(scope) if used.lookup == Lookup::BeforeBinding && scope == used.scope => {
                Some(ReferenceBinding::Module)
            }
            // Whoever evaluates the string looks in the globals, though the class may have a name of its own.
            Resolution::Local(scope) if used.lookup == Lookup::Quoted && self.is_class(scope) => {
                self.module_binds(used.name).then_some(ReferenceBinding::Module)
            }
            Resolution::Local(scope) => {
                let entry = self.scopes.entry(scope, used.name)?;
                let (import, name) = entry.import?;
                Some(ReferenceBinding::LocalImport { import, name, exclusive: entry.binders == 1 })
            }
            Resolution::ImplicitClass => None,
        }
    }

    fn resolve(&self, scope: ScopeId, name: Symbol) -> Resolution {
        self.scopes.resolve(scope, name, self.class_cell)
    }

    fn is_class(&self, scope: ScopeId) -> bool {
        self.scopes.scope(scope).kind == ScopeKind::Class
    }

    fn module_binds(&self, name: Symbol) -> bool {
        self.scopes.entry(MODULE, name).is_some_and(|entry| entry.is_bound() || entry.declared_global)
    }

    fn is_only_value(&self, value: &LocalValue) -> bool {
        let entry = self.scopes.entry(value.scope, value.name);
        entry.is_some_and(|entry| entry.binders == 1 && !entry.declared_global && !entry.declared_nonlocal)
    }

    fn finished_mutation(&self, candidate: MutationCandidate) -> Option<Mutation> {
        let MutationCandidate { root, path, kind, scope, .. } = candidate;
        let is_global = match kind {
            MutationKind::Quoted => self.module_binds(root),
            MutationKind::Rebinding => true,
            _ => self.resolve(scope, root) == Resolution::Module,
        };
        is_global.then_some(Mutation { root, path, kind })
    }

    fn finished_scope(&self, scope: ScopeId) -> Scope {
        let node = self.scopes.scope(scope);
        let is_local = |name: &&Symbol| {
            let entry = self.scopes.entry(scope, **name).expect("the scope lists the name");
            let elsewhere = entry.declared_global || entry.declared_nonlocal;
            // What a function declares global is an entry of the module that is declared so too.
            if scope == MODULE { entry.is_bound() || elsewhere } else { entry.is_bound() && !elsewhere }
        };
        let is_name = |name: &&Symbol| !self.names.get(**name).starts_with('.');
        let mut locals: Vec<Symbol> = node.symbols.iter().filter(is_local).filter(is_name).copied().collect();
        locals.sort_by_key(|name| self.names.get(*name));
        Scope { kind: node.kind, parent: node.parent, range: self.text.original_range(node.span), locals }
    }
}
