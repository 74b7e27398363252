//! Which statements change which variables after they were bound.

use std::collections::{HashMap, HashSet};

use super::{DefinitionId, FileId, Index, Variable};
use crate::facts::{BindingKind, Mutation, MutationKind, StatementKind};
use crate::resolve::Entity;

/// Methods of the built-in containers that change them. A call of any other method on an object that another module made
/// (a registry, a logger) belongs to its arguments' story, not to the object: `MODELS.register_module(module=Foo)` must
/// not bring Foo into every closure that holds MODELS. The module that made the object is another matter: what it does
/// with the object when it is imported is how it makes it.
const CONTAINER_MUTATORS: &[&str] = &[
    "add",
    "append",
    "appendleft",
    "clear",
    "difference_update",
    "discard",
    "extend",
    "extendleft",
    "insert",
    "intersection_update",
    "pop",
    "popitem",
    "popleft",
    "remove",
    "reverse",
    "rotate",
    "setdefault",
    "sort",
    "symmetric_difference_update",
    "update",
];

pub(super) fn is_container_mutator(method: &str) -> bool {
    CONTAINER_MUTATORS.contains(&method)
}

pub(super) fn of(index: &Index) -> HashMap<Variable, Vec<DefinitionId>> {
    let mut mutations: HashMap<Variable, Vec<DefinitionId>> = HashMap::new();
    for (id, file) in index.files() {
        for (position, statement) in (0u32..).zip(&file.facts.statements) {
            if statement.kind == StatementKind::MainGuard {
                continue;
            }
            let definition = DefinitionId { file: id, statement: position };
            for mutation in &statement.mutations {
                if let Some(variable) = target(index, definition, mutation) {
                    mutations.entry(variable).or_default().push(definition);
                }
            }
            // `TABLE |= {"x": x}` where `TABLE` is imported changes what another module made.
            let augmented = statement.bindings.iter().filter(|binding| binding.kind == BindingKind::Augmented);
            for variable in augmented.map(|binding| Variable { file: id, name: binding.name }) {
                let origin = index.origin(variable);
                if origin != variable {
                    mutations.entry(origin).or_default().push(definition);
                }
            }
        }
    }
    for statements in mutations.values_mut() {
        statements.sort_by_key(|statement| index.imports.rank(*statement));
        statements.dedup();
    }
    mutations
}

pub(super) fn assigned_attributes(index: &Index) -> HashSet<Box<str>> {
    let mut names = HashSet::new();
    for (_, file) in index.files() {
        for mutation in file.facts.statements.iter().flat_map(|statement| &statement.mutations) {
            if let (MutationKind::Attribute, Some(name)) = (mutation.kind, mutation.path.last()) {
                names.insert(file.facts.name(*name).into());
            }
        }
    }
    names
}

/// The statements of `file` that assign to attributes or items of objects outside the index.
pub(super) fn external_patches(index: &Index, file: FileId) -> Vec<DefinitionId> {
    let facts = &index.file(file).facts;
    let mut patches = Vec::new();
    for (position, statement) in (0u32..).zip(&facts.statements) {
        let is_patch = statement.kind != StatementKind::MainGuard
            && statement.mutations.iter().any(|mutation| {
                matches!(mutation.kind, MutationKind::Attribute | MutationKind::Item | MutationKind::OwnItem)
                    && matches!(index.resolve_global(file, facts.name(mutation.root)), Entity::External(_))
            });
        if is_patch {
            patches.push(DefinitionId { file, statement: position });
        }
    }
    patches
}

/// Whether what a statement calls of an object, by the path `rest`, belongs to the object: the module that made it says so,
/// or it is a class or function. A class that registers others by a decorator is a registry like any other object.
pub(super) fn is_making(
    index: &Index,
    definition: DefinitionId,
    variable: Variable,
    rest: &[&str],
    by_decorator: bool,
) -> bool {
    let is_registry = by_decorator && rest.len() == 1 && index.class_of(variable).is_some();
    definition.file == variable.file || index.is_defined_by_statement(variable) && !is_registry
}

/// `@Base.size.setter` makes a property of its own and leaves that of `Base` as it is.
pub(super) fn is_accessor(method: &str) -> bool {
    matches!(method, "getter" | "setter" | "deleter")
}

/// The variable to which a mutation belongs; `None` where it belongs to nothing in the index.
fn target(index: &Index, definition: DefinitionId, mutation: &Mutation) -> Option<Variable> {
    let facts = &index.file(definition.file).facts;
    let mut path = vec![facts.name(mutation.root)];
    path.extend(mutation.path.iter().map(|part| facts.name(*part)));
    let (entity, rest) = index.resolve_parts(definition.file, &path);
    let Entity::Variable(variable) = entity else { return None };
    let variable = index.origin(variable);
    let is_making = is_making(index, definition, variable, rest, mutation.kind == MutationKind::Decorator);
    let belongs = match mutation.kind {
        // A call of the object itself: `registry.register(x)` where `registry` is a module.
        MutationKind::Method | MutationKind::Decorator if rest.is_empty() => false,
        MutationKind::Attribute | MutationKind::Item | MutationKind::OwnItem | MutationKind::Quoted => true,
        MutationKind::Method => is_making || rest.last().is_some_and(|method| is_container_mutator(method)),
        MutationKind::Decorator => is_making && !rest.last().is_some_and(|method| is_accessor(method)),
        // Only of functions.
        MutationKind::Rebinding => false,
    };
    belongs.then_some(variable)
}
