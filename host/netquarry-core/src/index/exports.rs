//! Which names a star import brings.

use std::collections::HashSet;

use super::{FileId, Index, Module};
use crate::facts::ImportForm;

impl Index {
    /// Whether `from <file> import *` brings `name`.
    pub fn exports(&self, file: FileId, name: &str) -> bool {
        self.exports_within(file, name, &mut HashSet::new())
    }

    fn exports_within(&self, file: FileId, name: &str, seen: &mut HashSet<FileId>) -> bool {
        if !seen.insert(file) {
            return false;
        }
        let indexed = self.file(file);
        let exports = &indexed.facts.exports;
        let is_bound = |seen: &mut HashSet<FileId>| {
            indexed.binders.contains_key(name)
                || self.internal_stars(file).any(|module| self.exports_within(module, name, seen))
        };
        if !exports.declared {
            return !name.starts_with('_') && is_bound(seen);
        }
        exports.names.iter().any(|export| indexed.facts.name(*export) == name)
            || exports.all_of.iter().any(|path| {
                let (entity, rest) = self.resolve_path(file, indexed.facts.name(*path));
                matches!(entity, crate::resolve::Entity::Module(module)
                    if rest.is_empty() && self.exports_within(module, name, seen))
            })
            || (exports.dynamic && !name.starts_with('_') && is_bound(seen))
    }

    /// The files of the index that `file` star-imports at module level, the last one first: it wins.
    pub(crate) fn internal_stars(&self, file: FileId) -> impl Iterator<Item = FileId> {
        let indexed = self.file(file);
        indexed.stars.iter().rev().filter_map(move |(statement, import)| {
            let ImportForm::Star { level, module } = indexed.statement(*statement).imports[*import as usize].form else {
                unreachable!("a binding under `*` comes from a star import");
            };
            let module = self.absolute_module(file, level, module.map(|module| indexed.facts.name(module)))?;
            match self.find_module(indexed.source, &module) {
                Module::File(file) => Some(file),
                Module::Namespace(..) | Module::External | Module::Missing => None,
            }
        })
    }

    /// The modules outside the index that `file` star-imports at module level.
    pub(crate) fn external_stars(&self, file: FileId) -> impl Iterator<Item = String> {
        let indexed = self.file(file);
        indexed.stars.iter().rev().filter_map(move |(statement, import)| {
            let ImportForm::Star { level, module } = indexed.statement(*statement).imports[*import as usize].form else {
                unreachable!("a binding under `*` comes from a star import");
            };
            let module = self.absolute_module(file, level, module.map(|module| indexed.facts.name(module)))?;
            (self.find_module(indexed.source, &module) == Module::External).then_some(module)
        })
    }
}
