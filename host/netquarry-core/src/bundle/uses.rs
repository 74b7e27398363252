//! What the definitions of a closure use, and under which name.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::type_imports::{self, TypeImports};
use crate::closure::{Closure, Namespace, SubstitutionUse};
use crate::facts::{
    Access, Assigns, Evaluation, ImportStatement, Reference, ReferenceBinding, Role, ScopeKind, Symbol,
};
use crate::index::{DefinitionId, FileId, Index, Variable};
use crate::resolve::{Entity, External, Resolution};

/// The standard module whose `ModuleType` makes module objects.
pub(super) const TYPES: &str = "types";

/// With which a module says where its file lies.
pub(super) const FILE_ATTRIBUTE: &str = "__file__";

const TYPE_CHECKING: &str = "TYPE_CHECKING";

/// What a name of a bundle stands for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Named {
    Variable(Variable),
    /// A second name that a file gives to a variable of another (`from .a import f as g`), or a snapshot of a variable
    /// that functions bind anew.
    Alias(FileId, Symbol),
    /// An external object under the name that is wanted for it. Two names of one object are two imports, and two ways of
    /// importing one object under one name are one.
    External {
        path: String,
        wanted: String,
    },
    /// A module as an object.
    Module(FileId),
    /// The function of a late group that is named after the file.
    Late(FileId),
    /// `__file__` of a module that is part of the bundle, which is where the bundle lies.
    OwnFile,
}

impl Named {
    fn variable(&self) -> Option<Variable> {
        match self {
            Self::Variable(variable) => Some(*variable),
            _ => None,
        }
    }
}

/// One reference of a definition that is looked up in the bundle's globals.
#[derive(Clone, Copy, Debug)]
pub(super) struct Use<'index> {
    pub(super) definition: DefinitionId,
    pub(super) reference: &'index Reference,
    pub(super) resolution: &'index Resolution,
}

#[derive(Debug, Default)]
pub(super) struct Uses<'index> {
    /// By definition, in the order of their text.
    pub(super) by_definition: BTreeMap<DefinitionId, Vec<(Use<'index>, Named)>>,
    /// Likewise of the texts that replace a variable's definitions.
    pub(super) by_replacement: BTreeMap<Variable, Vec<(&'index SubstitutionUse, Named)>>,
    /// The variable that an alias names.
    pub(super) aliases: BTreeMap<(FileId, Symbol), Variable>,
    /// The ways by which an external object is imported.
    pub(super) externals: BTreeMap<(String, String), BTreeSet<External>>,
    /// Paths of attributes that a file reads off a package that `import a.b` binds: `["utils", "checkpoint"]`.
    pub(super) root_paths: BTreeMap<(FileId, String), BTreeSet<Vec<String>>>,
    /// What the names of modules that are used as objects stand for.
    pub(super) namespaces: BTreeMap<FileId, Vec<(String, Named)>>,
    /// Names that belong to Python, or to nothing.
    pub(super) reserved: BTreeSet<String>,
    /// What a local variable would hide where it is used under the name that it has upstream.
    pub(super) captured: BTreeSet<Named>,
    /// The variables that something in the bundle names.
    used: HashSet<Variable>,
    /// What annotations write that nothing evaluates.
    pub(super) type_imports: TypeImports,
    /// Variables that functions of the closure bind anew.
    rebound: HashSet<Variable>,
}

pub(super) fn collect<'index>(index: &'index Index, closure: &'index Closure) -> Uses<'index> {
    let mut uses = Uses { rebound: rebound(index, closure), ..Uses::default() };
    for (id, closed) in &closure.definitions {
        let statement = index.statement(*id);
        let mut named = Vec::new();
        uses.note_shared_locals(index, *id);
        for (reference, resolution) in statement.references.iter().zip(&closed.resolutions) {
            let Some(resolution) = resolution else { continue };
            let found = Use { definition: *id, reference, resolution };
            if let Some(name) = uses.add(index, closure, found) {
                uses.note_capture(index, found, &name);
                named.push((found, name));
            }
        }
        uses.by_definition.insert(*id, named);
    }
    for (file, namespace) in &closure.namespaces {
        uses.add_namespace(*file, namespace);
    }
    for (variable, substitution) in &closure.substitutions {
        let named = substitution.uses.iter().filter_map(|used| Some((used, uses.add_replacement_use(used)?)));
        let named = named.collect();
        uses.by_replacement.insert(*variable, named);
    }
    uses.used = uses.named().filter_map(Named::variable).chain(uses.aliases.values().copied()).collect();
    uses.type_imports = type_imports::find(index, closure, &uses);
    if !uses.type_imports.is_empty() {
        let guard = External::Member { module: "typing".to_owned(), name: TYPE_CHECKING.to_owned() };
        uses.externals.entry(type_checking()).or_default().insert(guard);
    }
    uses
}

/// The constant of the standard module `typing` that is true for type checkers alone, as an object with its name.
pub(super) fn type_checking() -> (String, String) {
    (format!("typing.{TYPE_CHECKING}"), TYPE_CHECKING.to_owned())
}

/// Variables that a function of the closure binds with `global`, or through a module's attribute.
fn rebound(index: &Index, closure: &Closure) -> HashSet<Variable> {
    let mut rebound = HashSet::new();
    for (id, closed) in &closure.definitions {
        for (reference, resolution) in index.statement(*id).references.iter().zip(&closed.resolutions) {
            let Some(Resolution { entity: Entity::Variable(variable), consumed, .. }) = resolution else { continue };
            let through_module =
                reference.assigns == Assigns::Path && *consumed == reference.path.len() && *consumed > 0;
            if reference.access != Access::Load || through_module {
                rebound.insert(*variable);
            }
        }
    }
    rebound
}

impl<'index> Uses<'index> {
    /// Whether something in the bundle names the variable, but for what binds it.
    pub(super) fn is_used(&self, variable: Variable) -> bool {
        self.used.contains(&variable)
    }

    /// What definitions, module objects and replacements name.
    fn named(&self) -> impl Iterator<Item = &Named> {
        let by_definitions = self.by_definition.values().flatten().map(|(_, named)| named);
        let by_namespaces = self.namespaces.values().flatten().map(|(_, named)| named);
        let by_replacements = self.by_replacement.values().flatten().map(|(_, named)| named);
        by_definitions.chain(by_namespaces).chain(by_replacements)
    }

    /// A local that an import binds and something else too stays a local, and is not the global of its name.
    fn note_shared_locals(&mut self, index: &Index, definition: DefinitionId) {
        let facts = &index.file(definition.file).facts;
        for import in index.statement(definition).imports.iter().filter(|import| import.scope.0 != 0) {
            for (place, imported) in (0u32..).zip(&import.names) {
                let local = import.local_name(imported, facts);
                if !is_shared(index, definition, import, local) {
                    continue;
                }
                let named = match index.resolve_imported(definition.file, import, place) {
                    Entity::Variable(variable) if index.variable_name(variable) == local => Named::Variable(variable),
                    Entity::Module(file) if index.file(file).stem() == local => Named::Module(file),
                    _ => continue,
                };
                self.captured.insert(named);
            }
        }
    }

    /// `layers.size` becomes `size`, which a local variable of that name would capture.
    fn note_capture(&mut self, index: &Index, found: Use<'index>, named: &Named) {
        let facts = &index.file(found.definition.file).facts;
        let wanted = match named {
            Named::Variable(variable) => index.variable_name(*variable),
            Named::Alias(..) => return,
            Named::OwnFile => FILE_ATTRIBUTE,
            Named::External { wanted, .. } => wanted,
            Named::Module(file) | Named::Late(file) => index.file(*file).stem(),
        };
        if found.resolution.consumed == 0 && facts.name(found.reference.name) == wanted {
            return;
        }
        let mut scope = Some(found.reference.scope);
        while let Some(id) = scope {
            let current = &facts.scopes[id.0 as usize];
            let is_visible = match current.kind {
                ScopeKind::Module => false,
                ScopeKind::Class => id == found.reference.scope,
                ScopeKind::Function | ScopeKind::Lambda | ScopeKind::Comprehension | ScopeKind::TypeParameters => true,
            };
            if is_visible && current.locals.iter().any(|local| facts.name(*local) == wanted) {
                self.captured.insert(named.clone());
                return;
            }
            scope = current.parent;
        }
    }

    /// A module object has the names of the module, whatever the bundle calls what they stand for.
    fn add_namespace(&mut self, file: FileId, namespace: &Namespace) {
        let module_type = External::Module(TYPES.to_owned());
        self.externals.entry((TYPES.to_owned(), TYPES.to_owned())).or_default().insert(module_type);
        let named = namespace.members.iter().filter_map(|(name, entity)| {
            let named = match entity {
                Entity::Variable(variable) => Named::Variable(*variable),
                Entity::External(external) => {
                    let key = (external.object_path(), name.clone());
                    self.externals.entry(key.clone()).or_default().insert(external.clone());
                    Named::External { path: key.0, wanted: key.1 }
                }
                _ => return None,
            };
            Some((name.clone(), named))
        });
        let named = named.collect();
        self.namespaces.insert(file, named);
    }

    /// Notes a use in the text of a replacement.
    fn add_replacement_use(&mut self, used: &SubstitutionUse) -> Option<Named> {
        match &used.entity {
            Entity::Variable(variable) => Some(Named::Variable(*variable)),
            Entity::External(external) => {
                let key = (external.object_path(), used.name.clone());
                self.externals.entry(key.clone()).or_default().insert(external.clone());
                if let External::Root { package, file } = external {
                    self.root_paths.entry((*file, package.clone())).or_default().insert(used.path.clone());
                }
                Some(Named::External { path: key.0, wanted: key.1 })
            }
            _ => None,
        }
    }

    /// Notes a use; `None` for one that leaves nothing to name.
    fn add(&mut self, index: &Index, closure: &Closure, found: Use<'index>) -> Option<Named> {
        let Use { definition, reference, resolution } = found;
        let facts = &index.file(definition.file).facts;
        let local = facts.name(reference.name);
        let is_local_import = matches!(reference.binding, ReferenceBinding::LocalImport { .. });
        match &resolution.entity {
            Entity::Variable(variable) if resolution.consumed > 0 || is_local_import => {
                Some(Named::Variable(*variable))
            }
            Entity::Variable(variable) => {
                let is_own = variable.file == definition.file && variable.name == reference.name;
                let is_snapshot = variable.file != definition.file && self.rebound.contains(variable);
                if is_own || (index.variable_name(*variable) == local && !is_snapshot) {
                    return Some(Named::Variable(*variable));
                }
                self.aliases.insert((definition.file, reference.name), *variable);
                Some(Named::Alias(definition.file, reference.name))
            }
            // The import stays in its function.
            Entity::External(_) if is_local_import && resolution.consumed == 0 => None,
            Entity::External(external) => {
                let wanted = match resolution.consumed.checked_sub(1) {
                    Some(last) => facts.name(reference.path[last].name),
                    None => local,
                };
                let key = (external.object_path(), wanted.to_owned());
                self.externals.entry(key.clone()).or_default().insert(external.clone());
                if let External::Root { package, file } = external {
                    let path =
                        reference.path[resolution.consumed..].iter().map(|part| facts.name(part.name).to_owned());
                    self.root_paths.entry((*file, package.clone())).or_default().insert(path.collect());
                }
                Some(Named::External { path: key.0, wanted: key.1 })
            }
            Entity::ModuleAttribute(attribute)
                if attribute == FILE_ATTRIBUTE && (resolution.consumed > 0 || local != FILE_ATTRIBUTE) =>
            {
                self.reserved.insert(FILE_ATTRIBUTE.to_owned());
                Some(Named::OwnFile)
            }
            // What nobody evaluates raises no NameError that another object of this name would hide.
            Entity::Undefined if index.never_evaluates(definition, reference) => None,
            Entity::Builtin | Entity::Undefined | Entity::ModuleAttribute(_) => {
                self.reserved.insert(local.to_owned());
                None
            }
            Entity::Module(file) if closure.namespaces.contains_key(file) => Some(Named::Module(*file)),
            Entity::Module(_) | Entity::Namespace(..) | Entity::Missing(_) => {
                self.reserved.insert(local.to_owned());
                None
            }
        }
    }
}

/// Whether a reference is evaluated when its statement runs.
pub(super) fn is_eager(index: &Index, definition: DefinitionId, reference: &Reference) -> bool {
    match reference.evaluation {
        Evaluation::Eager => true,
        Evaluation::EagerAnnotation => !index.file(definition.file).facts.future_annotations,
        Evaluation::Lazy | Evaluation::LazyAnnotation | Evaluation::Never => false,
    }
}

/// Whether evaluating a reference may call what it names.
pub(super) fn may_call(reference: &Reference) -> bool {
    reference.role != Role::Value
}

/// Whether something else binds, in the function of this import, the local that it binds.
pub(super) fn is_shared(index: &Index, definition: DefinitionId, import: &ImportStatement, local: &str) -> bool {
    let facts = &index.file(definition.file).facts;
    let statement = index.statement(definition);
    let stands_for_it = |reference: &Reference| match reference.binding {
        ReferenceBinding::LocalImport { import: first, exclusive: false, .. } => {
            statement.imports[first as usize].scope == import.scope && facts.name(reference.name) == local
        }
        _ => false,
    };
    import.scope.0 != 0 && statement.references.iter().any(stands_for_it)
}
