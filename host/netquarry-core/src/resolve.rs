//! What a name means: the object to which CPython would bind it, across files and sources.

use std::collections::HashMap;

use crate::facts::{
    BindingKind, Guard, ImportForm, ImportStatement, Reference, ReferenceBinding, StatementKind, Symbol,
};
use crate::index::{DefinitionId, FileId, Index, Module, SourceId, Variable, is_unguarded};
use crate::record::Confidence;
use crate::stdlib;

/// What a name, or a path of attributes, leads to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Entity {
    /// A global variable of a file in the index.
    Variable(Variable),
    /// A module of the index, as an object.
    Module(FileId),
    /// A package of the index without an `__init__.py`, as an object.
    Namespace(SourceId, String),
    External(External),
    Builtin,
    /// `__name__`, `__file__` and whatever else every module has.
    ModuleAttribute(String),
    /// No statement binds the name: upstream itself would raise a NameError.
    Undefined,
    /// A module that its own package does not hold, or a name that the module does not bind.
    Missing(Missing),
}

/// Something outside the index, by the import that reaches it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum External {
    /// `import a.b as c`: the module itself.
    Module(String),
    /// `from a.b import c`
    Member { module: String, name: String },
    /// `import a.b`, which binds `a`. Which submodules are loaded with it depends on the file that imports.
    Root { package: String, file: FileId },
    /// A name that only `from a.b import *` can have bound.
    Star { module: String, name: String },
}

impl External {
    /// The dotted path of the object.
    pub fn object_path(&self) -> String {
        match self {
            Self::Module(module) => module.clone(),
            Self::Member { module, name } | Self::Star { module, name } => format!("{module}.{name}"),
            Self::Root { package, .. } => package.clone(),
        }
    }

    /// The top-level package that an import of it needs.
    pub fn package(&self) -> &str {
        let (Self::Module(module)
        | Self::Member { module, .. }
        | Self::Star { module, .. }
        | Self::Root { package: module, .. }) = self;
        module.split('.').next().expect("split yields at least one part")
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Missing {
    /// The absolute name of the module that was imported.
    pub module: String,
    /// The name that was imported from it; `None` where the module itself is missing.
    pub name: Option<String>,
}

/// A reference with its meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolution {
    pub entity: Entity,
    /// How many attributes of the reference's path the entity includes: 2 for `layers.drop.DropPath` where `layers` is a
    /// module.
    pub consumed: usize,
    pub confidence: Confidence,
}

/// What was asked on the way to an answer: `None` while it is being found out, so that modules that import each other's
/// names in a circle end as undefined.
#[derive(Debug, Default)]
pub(crate) struct Trail {
    /// The meaning of a global name of a file.
    names: HashMap<(FileId, String), Option<Entity>>,
    /// Whether a star import of a file brings a name.
    pub(crate) exports: HashMap<(FileId, String), Option<bool>>,
}

impl Index {
    /// The meaning of a reference in a statement of `definition`.
    pub fn resolve(&self, definition: DefinitionId, reference: &Reference) -> Resolution {
        let facts = &self.file(definition.file).facts;
        let entity = match reference.binding {
            ReferenceBinding::Module => self.resolve_global(definition.file, facts.name(reference.name)),
            ReferenceBinding::LocalImport { import, name, .. } => {
                let import = &self.statement(definition).imports[import as usize];
                self.resolve_imported(definition.file, import, name)
            }
        };
        // Which of several bindings an attribute is read off, only running code knows.
        let is_open = matches!(reference.binding, ReferenceBinding::LocalImport { exclusive: false, .. });
        let path = if is_open { &[] } else { reference.path.as_slice() };
        let path: Vec<&str> = path.iter().map(|attribute| facts.name(attribute.name)).collect();
        let (entity, rest) = self.walk(entity, &path, &mut Trail::default());
        let consumed = path.len() - rest.len();
        let confidence = match entity {
            Entity::External(External::Star { .. }) => Confidence::Heuristic,
            _ if consumed > 0 => Confidence::QualifiedName,
            _ => Confidence::DirectImport,
        };
        Resolution { entity, consumed, confidence }
    }

    /// The variable that a reference names with its whole path.
    pub(crate) fn resolve_whole(&self, definition: DefinitionId, reference: &Reference) -> Option<Variable> {
        let resolution = self.resolve(definition, reference);
        match resolution.entity {
            Entity::Variable(variable) if resolution.consumed == reference.path.len() => Some(variable),
            _ => None,
        }
    }

    /// The meaning of a global name of `file`.
    pub fn resolve_global(&self, file: FileId, name: &str) -> Entity {
        self.global(file, name, &mut Trail::default())
    }

    /// The meaning of a dotted path that stands in `file`, and the attributes that are left of it.
    pub fn resolve_path<'path>(&self, file: FileId, path: &'path str) -> (Entity, Vec<&'path str>) {
        let parts: Vec<&str> = path.split('.').collect();
        let (entity, rest) = self.resolve_parts(file, &parts);
        (entity, rest.to_vec())
    }

    /// As [`Index::resolve_path`], of a path that is split already and holds at least one part.
    pub fn resolve_parts<'slice, 'path>(
        &self,
        file: FileId,
        parts: &'slice [&'path str],
    ) -> (Entity, &'slice [&'path str]) {
        self.resolve_within(file, parts, &mut Trail::default())
    }

    pub(crate) fn resolve_within<'slice, 'path>(
        &self,
        file: FileId,
        parts: &'slice [&'path str],
        trail: &mut Trail,
    ) -> (Entity, &'slice [&'path str]) {
        let entity = self.global(file, parts[0], trail);
        self.walk(entity, &parts[1..], trail)
    }

    /// What `import.names[name]` binds.
    pub fn resolve_imported(&self, file: FileId, import: &ImportStatement, name: u32) -> Entity {
        self.imported(file, import, name, &mut Trail::default())
    }

    /// The import statement and place in it that alone decide about a global name; `None` where anything else binds it.
    ///
    /// The last unguarded import at module level wins, as it does when CPython runs the module.
    pub fn import_binding(&self, file: FileId, name: &str) -> Option<(u32, u32, u32)> {
        let indexed = self.file(file);
        let mut last = None;
        for (statement, binding) in indexed.binders(name) {
            match binding.kind {
                BindingKind::Declaration => {}
                BindingKind::Import { import, name } => {
                    let stands = &indexed.statement(statement).imports[import as usize];
                    if indexed.statement(statement).kind != StatementKind::Import || !is_unguarded(&stands.guards) {
                        return None;
                    }
                    last = Some((statement, import, name));
                }
                _ => return None,
            }
        }
        last
    }

    fn global(&self, file: FileId, name: &str, trail: &mut Trail) -> Entity {
        let key = (file, name.to_owned());
        if let Some(known) = trail.names.get(&key) {
            return known.clone().unwrap_or(Entity::Undefined);
        }
        trail.names.insert(key.clone(), None);
        let entity = self.global_unknown(file, name, trail);
        trail.names.insert(key, Some(entity.clone()));
        entity
    }

    fn global_unknown(&self, file: FileId, name: &str, trail: &mut Trail) -> Entity {
        let indexed = self.file(file);
        if let Some((statement, import, place)) = self.import_binding(file, name) {
            let import = &indexed.statement(statement).imports[import as usize];
            return self.imported(file, import, place, trail);
        }
        let binder = indexed
            .binders(name)
            .find(|(_, binding)| !matches!(binding.kind, BindingKind::Declaration | BindingKind::Deletion))
            .or_else(|| indexed.binders(name).next());
        if let Some((_, binding)) = binder {
            return Entity::Variable(Variable { file, name: binding.name });
        }
        self.unbound(file, name, trail)
    }

    /// The meaning of a name that no statement of the file binds.
    fn unbound(&self, file: FileId, name: &str, trail: &mut Trail) -> Entity {
        for module in self.internal_stars(file) {
            if self.exports(module, name, trail) {
                let entity = self.member(module, name, trail);
                if !matches!(entity, Entity::Undefined | Entity::Missing(_)) {
                    return entity;
                }
            }
        }
        if stdlib::is_module_attribute(name) {
            return Entity::ModuleAttribute(name.to_owned());
        }
        if stdlib::is_builtin(name) {
            return Entity::Builtin;
        }
        match self.external_stars(file).next() {
            Some(module) => Entity::External(External::Star { module, name: name.to_owned() }),
            None => Entity::Undefined,
        }
    }

    /// What `from <file> import name` binds: an attribute of the module or, failing that, a submodule.
    fn member(&self, file: FileId, name: &str, trail: &mut Trail) -> Entity {
        let indexed = self.file(file);
        // `from . import name` in a package's own `__init__`: while it runs, the package has no such attribute yet.
        let is_being_bound = matches!(trail.names.get(&(file, name.to_owned())), Some(None));
        if let Some((statement, import, place)) = self.declared_import(file, name) {
            let import = &indexed.statement(statement).imports[import as usize];
            return self.imported(file, import, place, trail);
        }
        if indexed.binders(name).next().is_some() && !is_being_bound {
            return self.global(file, name, trail);
        }
        match self.find_module(indexed.source, &format!("{}.{name}", indexed.module())) {
            Module::File(module) => return Entity::Module(module),
            Module::Namespace(source, package) => return Entity::Namespace(source, package),
            Module::External | Module::Missing => {}
        }
        match self.global(file, name, trail) {
            Entity::Undefined | Entity::Builtin => {
                Entity::Missing(Missing { module: indexed.module().to_owned(), name: Some(name.to_owned()) })
            }
            entity => entity,
        }
    }

    /// The import under `if TYPE_CHECKING:` that alone declares a name, for those who import it from the module.
    ///
    /// Such a module gives its names when they are asked for (by `__getattr__`, or by another object that it puts into
    /// `sys.modules`) and tells type checkers beforehand what they are:
    ///
    /// ```python
    /// if TYPE_CHECKING:
    ///     from .block import Block
    /// else:
    ///     sys.modules[__name__] = LazyModule(__name__, {"block": ["Block"]})
    /// ```
    fn declared_import(&self, file: FileId, name: &str) -> Option<(u32, u32, u32)> {
        let indexed = self.file(file);
        let mut declared = None;
        for (statement, binding) in indexed.binders(name) {
            let BindingKind::Import { import, name } = binding.kind else { return None };
            if !indexed.statement(statement).imports[import as usize].guards.contains(&Guard::TypeChecking) {
                return None;
            }
            declared = Some((statement, import, name));
        }
        declared
    }

    /// What stands behind a variable that only an import under `if TYPE_CHECKING:` declares.
    pub fn declared(&self, variable: Variable) -> Option<Entity> {
        let name = self.variable_name(variable);
        let (statement, import, place) = self.declared_import(variable.file, name)?;
        let import = &self.file(variable.file).statement(statement).imports[import as usize];
        Some(self.resolve_imported(variable.file, import, place))
    }

    /// The file from which a module takes a name that an import under `if TYPE_CHECKING:` alone declares.
    pub(crate) fn declared_file(&self, file: FileId, name: &str) -> Option<FileId> {
        let (statement, import, place) = self.declared_import(file, name)?;
        let import = &self.file(file).statement(statement).imports[import as usize];
        match self.resolve_imported(file, import, place) {
            Entity::Variable(variable) => Some(variable.file),
            Entity::Module(module) => Some(module),
            _ => None,
        }
    }

    fn imported(&self, file: FileId, import: &ImportStatement, place: u32, trail: &mut Trail) -> Entity {
        let indexed = self.file(file);
        let facts = &indexed.facts;
        let imported = &import.names[place as usize];
        let name = facts.name(imported.name);
        match import.form {
            ImportForm::Module if imported.alias.is_some() => self.module_entity(file, name),
            ImportForm::Module => {
                let root = name.split('.').next().expect("split yields at least one part");
                match self.module_entity(file, root) {
                    Entity::External(_) => Entity::External(External::Root { package: root.to_owned(), file }),
                    entity => entity,
                }
            }
            ImportForm::From { level, module } => {
                let module = module.map(|module| facts.name(module));
                let Some(module) = self.absolute_module(file, level, module) else {
                    let module = format!("{}{}", ".".repeat(level as usize), module.unwrap_or_default());
                    return Entity::Missing(Missing { module, name: Some(name.to_owned()) });
                };
                match self.find_module(indexed.source, &module) {
                    Module::File(module) => self.member(module, name, trail),
                    Module::Namespace(..) => match self.find_module(indexed.source, &format!("{module}.{name}")) {
                        Module::File(module) => Entity::Module(module),
                        Module::Namespace(source, package) => Entity::Namespace(source, package),
                        Module::External | Module::Missing => {
                            Entity::Missing(Missing { module, name: Some(name.to_owned()) })
                        }
                    },
                    Module::External => Entity::External(External::Member { module, name: name.to_owned() }),
                    Module::Missing => Entity::Missing(Missing { module, name: Some(name.to_owned()) }),
                }
            }
            ImportForm::Star { .. } => unreachable!("a star import binds no name that can be asked for"),
        }
    }

    fn module_entity(&self, file: FileId, module: &str) -> Entity {
        match self.find_module(self.file(file).source, module) {
            Module::File(module) => Entity::Module(module),
            Module::Namespace(source, package) => Entity::Namespace(source, package),
            Module::External => Entity::External(External::Module(module.to_owned())),
            Module::Missing => Entity::Missing(Missing { module: module.to_owned(), name: None }),
        }
    }

    /// Follows attributes as long as they are read off modules of the index.
    fn walk<'slice, 'path>(
        &self,
        mut entity: Entity,
        mut path: &'slice [&'path str],
        trail: &mut Trail,
    ) -> (Entity, &'slice [&'path str]) {
        while let Some((attribute, rest)) = path.split_first() {
            let next = match &entity {
                // It is read off the object that stands for the module.
                Entity::Module(_) if *attribute == "__dict__" => break,
                Entity::Module(file) => self.member(*file, attribute, trail),
                Entity::Namespace(source, package) => {
                    match self.find_module(*source, &format!("{package}.{attribute}")) {
                        Module::File(file) => Entity::Module(file),
                        Module::Namespace(source, package) => Entity::Namespace(source, package),
                        Module::External | Module::Missing => break,
                    }
                }
                _ => break,
            };
            entity = next;
            path = rest;
        }
        (entity, path)
    }

    /// The symbol of `name` in the facts of `file`, if the file binds it.
    pub fn bound_symbol(&self, file: FileId, name: &str) -> Option<Symbol> {
        self.file(file).binders(name).next().map(|(_, binding)| binding.name)
    }
}
