//! From what the walk noted to the facts: uses and mutations are looked up in the finished scopes.

use std::collections::HashSet;

use super::{Draft, Lookup, Lowerer, MutationCandidate, Use, empty_statement};
use crate::facts::{
    Assigns, Effect, FileFacts, LocalValue, Mutation, MutationKind, Reference, ReferenceBinding, Scope, ScopeId,
    ScopeKind, Statement, StatementKind, Symbol,
};
use crate::source::TextRange;
use crate::syntax::scopes::{MODULE, Resolution};

/// The methods of Python's collections that change them.
const FILLING: [&str; 12] = [
    "add",
    "append",
    "clear",
    "extend",
    "insert",
    "pop",
    "popitem",
    "remove",
    "reverse",
    "setdefault",
    "sort",
    "update",
];

pub(super) fn facts(mut lowerer: Lowerer<'_>) -> FileFacts {
    let drafts = std::mem::take(&mut lowerer.finished);
    let rebound = lowerer.rebound();
    let statements = drafts.into_iter().map(|draft| lowerer.finish(draft, &rebound)).collect();
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
    /// The names of functions that functions inside declare `nonlocal`, by the scopes that bind them.
    fn rebound(&self) -> HashSet<(ScopeId, Symbol)> {
        let names = self.scopes.iter().flat_map(|(scope, node)| node.symbols.iter().map(move |name| (scope, *name)));
        let declared =
            names.filter(|(scope, name)| self.scopes.entry(*scope, *name).is_some_and(|entry| entry.declared_nonlocal));
        let binder = declared.filter_map(|(scope, name)| match self.resolve(scope, name) {
            Resolution::Local(binder) => Some((binder, name)),
            Resolution::Module | Resolution::ImplicitClass => None,
        });
        binder.collect()
    }

    /// `rebound` are names of functions that functions inside bind anew.
    fn finish(&self, draft: Draft, rebound: &HashSet<(ScopeId, Symbol)>) -> Statement {
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
        statement.local_values = self.finished_local_values(draft.local_values, &draft.uses, rebound);
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

    /// Those that hold wherever the name is used, with what they need.
    fn finished_local_values(
        &self,
        mut values: Vec<LocalValue>,
        uses: &[Use],
        rebound: &HashSet<(ScopeId, Symbol)>,
    ) -> Vec<LocalValue> {
        if values.is_empty() {
            return values;
        }
        let local = uses.iter().filter_map(|used| match self.resolve(used.scope, used.name) {
            Resolution::Local(scope) => Some((used, scope)),
            Resolution::Module | Resolution::ImplicitClass => None,
        });
        let mut local: Vec<(TextRange, &Use, ScopeId)> =
            local.map(|(used, scope)| (self.text.original_range(used.span), used, scope)).collect();
        local.sort_by_key(|(range, ..)| range.start);
        let filled = local.iter().filter(|(_, used, _)| self.fills(used));
        let filled: HashSet<(ScopeId, Symbol)> = filled.map(|(_, used, scope)| (*scope, used.name)).collect();
        let holds = |name: &(ScopeId, Symbol)| !filled.contains(name) && !rebound.contains(name);
        values.retain(|value| self.is_only_value(value) && holds(&(value.scope, value.name)));
        for value in &mut values {
            let range = value.value.range;
            let first = local.partition_point(|(used, ..)| used.start < range.start);
            let within = local[first..].iter().take_while(|(used, ..)| used.start < range.end);
            let is_own = |scope: ScopeId| range.contains(self.text.original_range(self.scopes.scope(scope).span));
            let needs = within.filter(|(.., scope)| !is_own(*scope)).map(|(_, used, scope)| (used.name, *scope));
            value.needs = needs.collect();
        }
        values.sort_by_key(|value| value.scope);
        values
    }

    /// Whether a use may change what the name stands for.
    fn fills(&self, used: &Use) -> bool {
        let first = self.attributes[used.path.0 as usize..used.path.1 as usize].first();
        used.assigns != Assigns::Nothing || first.is_some_and(|first| FILLING.contains(&self.names.get(first.name)))
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
