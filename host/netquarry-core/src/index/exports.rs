//! Which names a star import brings.

use super::{FileId, Index, Module};
use crate::facts::ImportForm;
use crate::resolve::{Entity, Trail};

impl Index {
    /// Whether `from <file> import *` brings `name`.
    pub fn is_exported(&self, file: FileId, name: &str) -> bool {
        self.exports(file, name, &mut Trail::default())
    }

    /// The files of the index that `file` star-imports at module level, in order.
    pub fn starred_files(&self, file: FileId) -> Vec<FileId> {
        let mut files: Vec<FileId> = self.internal_stars(file).collect();
        files.reverse();
        files
    }

    /// As [`Index::is_exported`], with what was asked before.
    pub(crate) fn exports(&self, file: FileId, name: &str, trail: &mut Trail) -> bool {
        let key = (file, name.to_owned());
        if let Some(known) = trail.exports.get(&key) {
            return known.unwrap_or(false);
        }
        trail.exports.insert(key.clone(), None);
        let exported = self.exports_unknown(file, name, trail);
        trail.exports.insert(key, Some(exported));
        exported
    }

    fn exports_unknown(&self, file: FileId, name: &str, trail: &mut Trail) -> bool {
        let indexed = self.file(file);
        let exports = &indexed.facts.exports;
        if !exports.declared {
            return !name.starts_with('_') && self.has_global(file, name, trail);
        }
        exports.names.iter().any(|export| indexed.facts.name(*export) == name)
            || exports.all_of.iter().any(|path| {
                let parts: Vec<&str> = indexed.facts.name(*path).split('.').collect();
                match self.resolve_within(file, &parts, trail) {
                    (Entity::Module(module), []) => self.exports(module, name, trail),
                    _ => false,
                }
            })
            || (exports.dynamic && !name.starts_with('_') && self.has_global(file, name, trail))
    }

    fn has_global(&self, file: FileId, name: &str, trail: &mut Trail) -> bool {
        self.file(file).binders.contains_key(name)
            || self.internal_stars(file).any(|module| self.exports(module, name, trail))
    }

    /// The files of the index that `file` star-imports at module level, the last one first: it wins.
    pub(crate) fn internal_stars(&self, file: FileId) -> impl Iterator<Item = FileId> {
        self.starred_modules(file).filter_map(move |module| match self.find_module(self.file(file).source, &module) {
            Module::File(file) => Some(file),
            Module::Namespace(..) | Module::External | Module::Missing => None,
        })
    }

    /// The modules outside the index that `file` star-imports at module level, the last one first.
    pub(crate) fn external_stars(&self, file: FileId) -> impl Iterator<Item = String> {
        let source = self.file(file).source;
        self.starred_modules(file).filter(move |module| self.find_module(source, module) == Module::External)
    }

    fn starred_modules(&self, file: FileId) -> impl Iterator<Item = String> {
        let indexed = self.file(file);
        indexed.stars.iter().rev().filter_map(move |(statement, import)| {
            let ImportForm::Star { level, module } = indexed.statement(*statement).imports[*import as usize].form
            else {
                unreachable!("a binding under `*` comes from a star import");
            };
            self.absolute_module(file, level, module.map(|module| indexed.facts.name(module)))
        })
    }
}
