//! Names that a bundle writes in annotations and nowhere else.
//!
//! What upstream imports under `TYPE_CHECKING` stays behind, and so do the definitions that an annotation names of which
//! a shim says that nothing reads it. A type checker or a linter that reads the annotation still wants to know where the
//! names come from: imports that never run say so, as upstream's own do.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::imports::modules_of_root;
use super::uses::Uses;
use crate::closure::Closure;
use crate::facts::ReferenceBinding;
use crate::index::Index;
use crate::resolve::{Entity, External, Missing};

/// What is imported for type checkers alone.
#[derive(Debug, Default)]
pub(super) struct TypeImports {
    /// Modules as objects, with their names.
    pub(super) modules: BTreeSet<(String, String)>,
    /// By module, what is imported from it: name and the name it gets.
    pub(super) members: BTreeMap<String, BTreeSet<(String, String)>>,
}

impl TypeImports {
    pub(super) fn is_empty(&self) -> bool {
        self.modules.is_empty() && self.members.is_empty()
    }

    fn add_member(&mut self, module: &str, name: &str, wanted: &str) {
        self.members.entry(module.to_owned()).or_default().insert((name.to_owned(), wanted.to_owned()));
    }

    /// Returns whether there is an import that binds the name.
    fn add(&mut self, index: &Index, entity: &Entity, wanted: &str) -> bool {
        match entity {
            Entity::Variable(variable) => {
                let module = index.file(variable.file).module();
                self.add_member(module, index.variable_name(*variable), wanted);
            }
            Entity::External(External::Member { module, name } | External::Star { module, name }) => {
                self.add_member(module, name, wanted);
            }
            Entity::External(External::Root { package, file }) if package == wanted => {
                let modules = modules_of_root(index, package, *file, |_| true);
                self.modules.extend(modules.into_iter().map(|module| (module.clone(), module)));
            }
            Entity::External(External::Module(module) | External::Root { package: module, .. }) => {
                self.modules.insert((module.clone(), wanted.to_owned()));
            }
            Entity::Missing(Missing { module, name: Some(name) }) => self.add_member(module, name, wanted),
            Entity::Missing(Missing { module, name: None }) => {
                self.modules.insert((module.clone(), wanted.to_owned()));
            }
            Entity::Module(file) => {
                self.modules.insert((index.file(*file).module().to_owned(), wanted.to_owned()));
            }
            Entity::Namespace(..) | Entity::Builtin | Entity::ModuleAttribute(_) | Entity::Undefined => return false,
        }
        true
    }
}

/// Finds the names that stay behind, but for those that the bundle has anyway. Where two modules have one name for
/// different types, the first one has it.
pub(super) fn find(index: &Index, closure: &Closure, uses: &Uses<'_>) -> TypeImports {
    let mut imports = TypeImports::default();
    let mut bound = None;
    let mut seen = HashSet::new();
    for (definition, closed) in &closure.definitions {
        for (reference, resolution) in index.statement(*definition).references.iter().zip(&closed.resolutions) {
            let stays_behind = resolution.is_none() && !closed.cuts.contain(reference.range);
            if !stays_behind || reference.binding != ReferenceBinding::Module {
                continue;
            }
            let bound: &HashSet<&str> = bound.get_or_insert_with(|| bound_names(index, closure, uses));
            let wanted = index.file(definition.file).facts.name(reference.name);
            if !bound.contains(wanted) && !seen.contains(wanted) {
                let entity = index.resolve_global(definition.file, wanted);
                let declared = match entity {
                    Entity::Variable(variable) => index.declared(variable),
                    _ => None,
                };
                if imports.add(index, &declared.unwrap_or(entity), wanted) {
                    seen.insert(wanted);
                }
            }
        }
    }
    imports
}

fn bound_names<'all>(index: &'all Index, closure: &'all Closure, uses: &'all Uses<'_>) -> HashSet<&'all str> {
    let variables = closure.variables.keys().map(|variable| index.variable_name(*variable));
    let aliases = uses.aliases.keys().map(|(file, symbol)| index.file(*file).facts.name(*symbol));
    let externals = uses.externals.keys().map(|(_, wanted)| wanted.as_str());
    variables.chain(aliases).chain(externals).collect()
}
