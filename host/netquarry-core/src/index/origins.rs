//! Variables that are other names of an object that a variable elsewhere holds.
//!
//! ```python
//! from .tables import PARTS, TABLE
//!
//! LAYERS = TABLE
//! LAYERS["gate"] = Gate
//! PARTS |= {"valve": Valve}
//! ```
//!
//! Both statements change objects of `tables`.

use std::collections::HashMap;

use super::{DefinitionId, FileId, Index, Variable};
use crate::facts::{BindingKind, Evaluation, Reference, Role, Statement, StatementKind, Symbol};
use crate::resolve::Entity;

/// By each other name, the variable that it was made from, which may be another name itself.
pub(super) fn of(index: &Index) -> HashMap<Variable, Variable> {
    let mut origins = HashMap::new();
    for (file, indexed) in index.files() {
        for (position, statement) in (0u32..).zip(&indexed.facts.statements) {
            let value = whole_value(statement);
            for binding in &statement.bindings {
                let definition = DefinitionId { file, statement: position };
                let origin = match (binding.kind, value) {
                    (BindingKind::Assignment, Some(value)) if is_only_binder(index, file, binding.name) => {
                        index.resolve_whole(definition, value)
                    }
                    (BindingKind::Augmented, _) => only_import(index, file, binding.name),
                    _ => None,
                };
                let variable = Variable { file, name: binding.name };
                if let Some(origin) = origin.filter(|origin| end(&origins, *origin) != variable) {
                    origins.insert(variable, origin);
                }
            }
        }
    }
    origins
}

/// Where the chain of names ends. No chain runs in a circle: see [`of`].
pub(super) fn end(origins: &HashMap<Variable, Variable>, variable: Variable) -> Variable {
    std::iter::successors(Some(variable), |name| origins.get(name).copied()).last().expect("it starts with one")
}

/// The dotted name that is all that an assignment binds its names to.
fn whole_value(statement: &Statement) -> Option<&Reference> {
    let is_value = |reference: &&Reference| {
        reference.path.last().map_or(reference.range.end, |attribute| attribute.end) == statement.range.end
    };
    let bound_until = statement.bindings.iter().map(|binding| binding.range.end).max()?;
    let mut evaluated = statement.references.iter().filter(|reference| reference.evaluation == Evaluation::Eager);
    let (Some(reference), None) = (evaluated.next().filter(is_value), evaluated.next()) else { return None };
    let is_plain = statement.kind == StatementKind::Assign && statement.calls.is_empty();
    (is_plain && reference.role == Role::Value && bound_until < reference.range.start).then_some(reference)
}

fn is_only_binder(index: &Index, file: FileId, name: Symbol) -> bool {
    let mut binders = index.file(file).binders(index.file(file).facts.name(name));
    binders.next().is_some() && binders.next().is_none()
}

/// The variable that an import binds a name to, if nothing else binds it but augmented assignments.
fn only_import(index: &Index, file: FileId, name: Symbol) -> Option<Variable> {
    let indexed = index.file(file);
    let mut imported = None;
    for (statement, binding) in indexed.binders(indexed.facts.name(name)) {
        match binding.kind {
            BindingKind::Augmented | BindingKind::Declaration => {}
            BindingKind::Import { import, name } if imported.is_none() => {
                let import = &indexed.statement(statement).imports[import as usize];
                let is_plain = indexed.statement(statement).kind == StatementKind::Import && import.guards.is_empty();
                imported = is_plain.then(|| index.resolve_imported(file, import, name));
            }
            _ => return None,
        }
    }
    match imported {
        Some(Entity::Variable(variable)) => Some(variable),
        _ => None,
    }
}
