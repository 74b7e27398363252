//! Everything that one block needs: the definitions of the corpus, transitively, and what lies outside.
//!
//! The closure is about *what*; [`crate::bundle`] decides about order, names and text.

mod annotations;
mod ask;
mod cuts;
mod entries;
mod named_tables;
mod namespace;
mod operators;
mod registrations;
mod registries;
mod rules;
mod substitutions;

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};

use crate::facts::{
    Access, Binding, BindingKind, Evaluation, Guard, MutationKind, Reference, ReferenceBinding, Statement, Symbol,
};
use crate::index::{DefinitionId, FileId, Index, Module, Variable};
use crate::record::{Confidence, ReplacedRecord, UnresolvedName};
use crate::resolve::{Entity, External, Missing, Resolution};
use crate::shim::{OperatorNamespace, Replacement};
use crate::source::TextRange;

pub use cuts::Cuts;
pub use namespace::Namespace;
pub use operators::OperatorUse;
pub use rules::{Dynamics, Rules};

/// A block, by the variable that its class statement binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Target {
    pub definition: DefinitionId,
    pub variable: Variable,
}

/// Why a definition belongs to a closure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// The definition that needed it first; `None` for the block itself.
    pub by: Option<DefinitionId>,
    /// How that one refers to it, as written.
    pub reference: String,
    pub confidence: Confidence,
}

/// A definition with the meaning of all its references.
#[derive(Clone, Debug)]
pub struct ClosedDefinition {
    pub need: Need,
    /// One for each of the statement's references, in their order; `None` for those inside of dropped text, and for types
    /// that stay behind.
    pub resolutions: Vec<Option<Resolution>>,
    pub cuts: Cuts,
    /// Annotations of which a shim says that nothing reads them, and which name something of the corpus.
    pub postponed: Vec<TextRange>,
}

/// The definitions and external objects that a block needs, transitively.
#[derive(Clone, Debug)]
pub struct Closure {
    pub target: Target,
    pub definitions: BTreeMap<DefinitionId, ClosedDefinition>,
    /// The global variables of the corpus that are needed, each with the need that brought it.
    pub variables: BTreeMap<Variable, Need>,
    /// Modules that are used as objects.
    pub namespaces: BTreeMap<FileId, Namespace>,
    /// Variables whose definitions a shim replaces.
    pub substitutions: BTreeMap<Variable, Substitution>,
    /// Objects outside of the corpus that a shim replaces, by their dotted path.
    pub external_replacements: BTreeMap<String, Replacement>,
    /// The uses of operators that definitions of the closure make.
    pub operator_uses: BTreeMap<DefinitionId, Vec<OperatorUse>>,
    /// Imports that register the other operators that the block uses.
    pub operators: Vec<OperatorNamespace>,
    pub replaced: Vec<ReplacedRecord>,
    pub unresolved: Vec<Unresolved>,
    /// Keys that none of the closure's registries has.
    pub unknown_keys: Vec<UnknownKey>,
}

/// A string in the place of a registry's key that names no entry of the index.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnknownKey {
    pub definition: DefinitionId,
    pub range: TextRange,
    /// `type` in `dict(type="BN")`
    pub field: String,
    pub key: String,
}

/// What stands in the place of a definition.
#[derive(Clone, Debug)]
pub struct Substitution {
    pub rule: Replacement,
    pub uses: Vec<SubstitutionUse>,
}

/// A free name in the text of a replacement, with its meaning in upstream's module.
#[derive(Clone, Debug)]
pub struct SubstitutionUse {
    /// In the text of the replacement.
    pub range: TextRange,
    pub name: String,
    /// The attributes that are read off it.
    pub path: Vec<String>,
    pub entity: Entity,
    /// It is evaluated when the text runs.
    pub is_eager: bool,
}

/// A reference that leads nowhere, or to something that no file can carry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unresolved {
    pub definition: DefinitionId,
    pub range: TextRange,
    pub name: String,
    /// No statement of the module binds it, or its whole package is gone: upstream has the same fault.
    pub undefined_upstream: bool,
    pub message: String,
}

impl Unresolved {
    /// The record of the manifest; `upstream` is path and line of the reference.
    pub fn record(&self, upstream: String) -> UnresolvedName {
        let Self { name, undefined_upstream, message, .. } = self.clone();
        UnresolvedName { name, upstream, undefined_upstream, message }
    }
}

/// Computes the closure of `target`, under the rules of the shims.
pub fn close(index: &Index, rules: &Rules, target: Target) -> Closure {
    let mut closing = Closing {
        index,
        rules,
        closure: Closure {
            target,
            definitions: BTreeMap::new(),
            variables: BTreeMap::new(),
            namespaces: BTreeMap::new(),
            substitutions: BTreeMap::new(),
            external_replacements: BTreeMap::new(),
            operator_uses: BTreeMap::new(),
            operators: Vec::new(),
            replaced: Vec::new(),
            unresolved: Vec::new(),
            unknown_keys: Vec::new(),
        },
        waiting: VecDeque::new(),
        imported: None,
        patched: HashSet::new(),
        read: HashSet::new(),
        left_out: Vec::new(),
        left_out_records: Vec::new(),
        keys: Vec::new(),
        unknown_keys: Vec::new(),
        named_tables: Vec::new(),
        held_keys: BTreeSet::new(),
    };
    let need = Need { by: None, reference: String::new(), confidence: Confidence::DirectImport };
    closing.need_variable(target.variable, need);
    loop {
        while let Some(definition) = closing.waiting.pop_front() {
            closing.follow(definition);
        }
        let has_entered = [closing.enter_registries(), closing.enter_named_tables()];
        if has_entered == [false, false] {
            break;
        }
    }
    let left_out = closing.named_table_records();
    let mut closure = closing.closure;
    closure.replaced.extend(left_out);
    closure.replaced.extend(closing.left_out_records.into_iter().map(|(_, _, record)| record));
    closure.unknown_keys = closing.unknown_keys;
    closure.unknown_keys.sort();
    closure.unknown_keys.dedup();
    closure.replaced.sort_by(|left, right| (&left.what, &left.by).cmp(&(&right.what, &right.by)));
    closure.replaced.dedup();
    closure.unresolved.sort_by_key(|unresolved| (unresolved.definition, unresolved.range));
    closure
}

/// Whether this attribute of a module says where it lies; the file of every module is the bundle.
fn is_place(attribute: &str) -> bool {
    matches!(attribute, "__file__" | "__path__" | "__spec__")
}

struct Closing<'index> {
    index: &'index Index,
    rules: &'index Rules,
    closure: Closure,
    waiting: VecDeque<DefinitionId>,
    /// The files that may run when the target's is imported: computed when first asked for.
    imported: Option<crate::index::FileSet>,
    /// Files whose changes of external objects were looked through.
    patched: HashSet<FileId>,
    /// Variables whose entries were looked through, since something reads them.
    read: HashSet<Variable>,
    /// Entries of registries that are not in the closure.
    left_out: Vec<registries::LeftOut>,
    left_out_records: Vec<(DefinitionId, TextRange, ReplacedRecord)>,
    /// The strings of the closure's definitions that may be keys, by their place in `Statement::keys`.
    keys: Vec<(DefinitionId, u32)>,
    unknown_keys: Vec<UnknownKey>,
    /// The definitions of dictionaries by names, of which entries were left out.
    named_tables: Vec<DefinitionId>,
    /// The keys of such dictionaries that the closure asks for.
    held_keys: BTreeSet<&'index str>,
}

impl Closing<'_> {
    fn need_definition(&mut self, definition: DefinitionId, need: Need) {
        if self.closure.definitions.contains_key(&definition) {
            return;
        }
        let empty = ClosedDefinition { need, resolutions: Vec::new(), cuts: Cuts::default(), postponed: Vec::new() };
        self.closure.definitions.insert(definition, empty);
        self.waiting.push_back(definition);
        self.need_patches(definition);
    }

    /// A variable brings all its binders, and what changes it.
    fn need_variable(&mut self, variable: Variable, need: Need) {
        if self.closure.variables.contains_key(&variable) {
            return;
        }
        self.closure.variables.insert(variable, need.clone());
        if let Some((replacement, plugin)) = self.rules.replacement(&self.index.variable_path(variable)) {
            self.closure.replaced.push(ReplacedRecord {
                what: self.index.variable_path(variable),
                by: replacement.by.clone(),
                why: replacement.why.clone(),
                plugin: plugin.to_owned(),
            });
            self.substitute(variable, replacement);
            return;
        }
        let file = self.index.file(variable.file);
        let name = file.facts.name(variable.name);
        let gives_value = |statement: u32, binding: &Binding| match binding.kind {
            BindingKind::Declaration => false,
            BindingKind::Import { import, .. } => {
                !file.statement(statement).imports[import as usize].guards.contains(&Guard::TypeChecking)
            }
            _ => true,
        };
        let has_value = file.binders(name).any(|(statement, binding)| gives_value(statement, binding));
        for (statement, binding) in file.binders(name) {
            if has_value && !gives_value(statement, binding) {
                continue;
            }
            let definition = DefinitionId { file: variable.file, statement };
            self.need_definition(definition, need.clone());
            if let BindingKind::Import { import, name: place } = binding.kind {
                let import = &file.statement(statement).imports[import as usize];
                let entity = self.index.resolve_imported(variable.file, import, place);
                if gives_value(statement, binding) {
                    self.need_entity(definition, import.range, name, &entity, Confidence::DirectImport);
                }
            }
        }
        for mutation in self.index.mutations_of(variable) {
            let is_entry = self.rules.registrations(self.index).is_entry(self.index, variable, *mutation)
                || self.index.operators().is_entry(variable, *mutation);
            let runs = mutation.file == variable.file || self.may_run(mutation.file);
            if !is_entry && runs && !self.changes_only_dropped(*mutation, variable) {
                self.need_definition(*mutation, need.clone());
            }
        }
    }

    fn may_run(&mut self, file: FileId) -> bool {
        let target = self.closure.target.definition.file;
        self.imported.get_or_insert_with(|| self.index.imports().may_import(target)).contains(file)
    }

    /// Statements of the definition's file that patch external objects (`torch.nn.Foo.bar = baz`) hold for whatever of
    /// that file is in the closure.
    fn need_patches(&mut self, definition: DefinitionId) {
        if !self.patched.insert(definition.file) {
            return;
        }
        for patch in self.index.external_patches(definition.file) {
            if self.patches_only_dropped(patch) || self.replaces_its_module(patch) {
                continue;
            }
            let need = Need {
                by: Some(definition),
                reference: "patches an external object".to_owned(),
                confidence: Confidence::DirectImport,
            };
            self.need_definition(patch, need);
        }
    }

    /// Whether a statement puts another object in the place of its own module, and patches nothing beside that but what
    /// says how modules are found: `sys.modules[__name__] = x` is for those who import the module, and nobody imports
    /// what is in a bundle.
    fn replaces_its_module(&self, patch: DefinitionId) -> bool {
        let index = self.index;
        let facts = &index.file(patch.file).facts;
        let statement = index.statement(patch);
        let patched = statement.mutations.iter().filter_map(|mutation| {
            let path = std::iter::once(&mutation.root).chain(&mutation.path).map(|part| facts.name(*part));
            let path: Vec<&str> = path.collect();
            let (entity, rest) = index.resolve_parts(patch.file, &path);
            let object = self.object_path(&entity, rest).unwrap_or_default();
            matches!(entity, Entity::External(_)).then_some((mutation.kind, object))
        });
        let is_own =
            |(kind, object): &(MutationKind, String)| *kind == MutationKind::OwnItem && object == "sys.modules";
        let is_about_modules = |object: &str| object == "sys.modules" || object.starts_with("sys.meta_path");
        let patched: Vec<_> = patched.collect();
        patched.iter().any(is_own) && patched.iter().all(|(_, object)| is_about_modules(object))
    }

    fn follow(&mut self, definition: DefinitionId) {
        let index = self.index;
        let statement = index.statement(definition);
        let (entries, entering_calls) = self.leave_out_entries(definition);
        let mut cuts = self.cut(definition);
        cuts.decorators.extend(entries);
        cuts.calls.extend(entering_calls);
        cuts.entries = self.leave_out_named_entries(definition);
        self.note_keys(definition);
        self.hold_keys(definition);
        self.complete_operators(definition);
        let (postponed, types) = self.postpone_annotations(definition);
        let mut resolutions = Vec::with_capacity(statement.references.len());
        for (reference, resolution) in statement.references.iter().zip(index.resolutions(definition)) {
            let stays_behind = cuts.contain(reference.range)
                || types.iter().any(|range| range.contains(reference.range))
                || self.is_for_types(definition, reference, resolution);
            if stays_behind {
                resolutions.push(None);
                continue;
            }
            resolutions.push(Some(self.follow_reference(definition, reference, resolution.clone())));
        }
        let closed = self.closure.definitions.get_mut(&definition).expect("only needed definitions are followed");
        closed.resolutions = resolutions;
        closed.cuts = cuts;
        closed.postponed = postponed;
    }

    /// Brings what stands in a part of a definition that was left out before.
    fn follow_references_in(&mut self, definition: DefinitionId, range: TextRange) {
        let index = self.index;
        let references = index.statement(definition).references.iter().zip(index.resolutions(definition));
        for (place, (reference, resolution)) in references.enumerate() {
            if range.contains(reference.range) {
                let resolution = self.follow_reference(definition, reference, resolution.clone());
                let closed = self.closure.definitions.get_mut(&definition).expect("only parts of it were left out");
                closed.resolutions[place] = Some(resolution);
            }
        }
    }

    /// Brings what a reference means; returns it as the closure has it.
    fn follow_reference(
        &mut self,
        definition: DefinitionId,
        reference: &Reference,
        mut resolution: Resolution,
    ) -> Resolution {
        self.keep_outside(definition, &mut resolution);
        let written = written(self.index, definition, reference, resolution.consumed);
        self.replace_external(reference, &resolution);
        self.need_operators(reference, definition, &resolution);
        self.ask(definition, reference, &resolution);
        self.need_entity(definition, reference.range, &written, &resolution.entity, resolution.confidence);
        self.need_entries(definition, reference, &resolution, &written);
        self.need_other_imports(definition, reference, &written);
        resolution
    }

    /// Several imports of a function may bind one local name: each is needed.
    fn need_other_imports(&mut self, definition: DefinitionId, reference: &Reference, written: &str) {
        let ReferenceBinding::LocalImport { import: first, exclusive: false, .. } = reference.binding else { return };
        let index = self.index;
        let facts = &index.file(definition.file).facts;
        let imports = &index.statement(definition).imports;
        let scope = imports[first as usize].scope;
        for import in imports.iter().filter(|import| import.scope == scope) {
            for (place, imported) in (0..).zip(&import.names) {
                if import.local_name(imported, facts) == facts.name(reference.name) {
                    let entity = index.resolve_imported(definition.file, import, place);
                    self.need_entity(definition, reference.range, written, &entity, Confidence::DirectImport);
                }
            }
        }
    }

    /// A block that is itself defined in a package that stays an import (torch) imports the rest of that package.
    fn keep_outside(&self, definition: DefinitionId, resolution: &mut Resolution) {
        let Entity::Variable(variable) = resolution.entity else { return };
        let file = self.index.file(variable.file);
        let target = self.closure.target;
        if variable == target.variable
            || !self.index.is_kept_import(file.module())
            || definition.file != target.definition.file
        {
            return;
        }
        // The package does not have what it only tells type checkers.
        if let Some(declared @ Entity::External(_)) = self.index.declared(variable) {
            resolution.entity = declared;
            return;
        }
        resolution.entity = Entity::External(External::Member {
            module: file.module().to_owned(),
            name: file.facts.name(variable.name).to_owned(),
        });
    }

    fn need_entity(
        &mut self,
        definition: DefinitionId,
        range: TextRange,
        written: &str,
        entity: &Entity,
        confidence: Confidence,
    ) {
        match entity {
            Entity::Variable(variable) => {
                let need = Need { by: Some(definition), reference: written.to_owned(), confidence };
                self.need_variable(*variable, need);
            }
            Entity::Module(module) => self.need_namespace(definition, range, written, *module),
            Entity::Missing(missing) => {
                let is_upstreams = self.is_without_package(definition.file, &missing.module)
                    || self.is_without_name(definition.file, missing);
                let message = self.missing_message(definition.file, missing);
                self.unresolved(definition, range, written, is_upstreams, message);
            }
            Entity::Namespace(_, package) => {
                let message = format!("the namespace package `{package}` is used as an object");
                self.unresolved(definition, range, written, false, message);
            }
            Entity::Undefined if !self.is_stored_by_a_function(definition.file, written) => {
                let message = "no statement of the module binds this name".to_owned();
                self.unresolved(definition, range, written, true, message);
            }
            Entity::ModuleAttribute(attribute) if attribute != written && attribute != "__file__" => {
                let message = "Python gives it to every module, and that module is not there".to_owned();
                self.unresolved(definition, range, written, false, message);
            }
            Entity::ModuleAttribute(attribute) if is_place(attribute) => {
                let message = "it names the bundle's own place: what upstream keeps beside its source is not there";
                self.unresolved(definition, range, written, false, message.to_owned());
            }
            Entity::Undefined | Entity::External(_) | Entity::Builtin | Entity::ModuleAttribute(_) => {}
        }
    }

    fn unresolved(
        &mut self,
        definition: DefinitionId,
        range: TextRange,
        name: &str,
        undefined_upstream: bool,
        message: String,
    ) {
        let name = name.to_owned();
        self.closure.unresolved.push(Unresolved { definition, range, name, undefined_upstream, message });
    }

    fn missing_message(&self, file: FileId, Missing { module, name }: &Missing) -> String {
        let is_there = self.index.find_module(self.index.file(file).source, module) != Module::Missing;
        match name {
            Some(name) if is_there => {
                format!("module `{module}` of the source binds no `{name}` and has no such submodule")
            }
            Some(name) => format!("the source holds no module `{module}`, which `{name}` is imported from"),
            None => format!("the source holds no module `{module}`"),
        }
    }

    /// Whether the source holds not even the package of a module that it lacks. A module that a build makes stands in a
    /// package with others; this one is gone, and upstream's import of it fails.
    fn is_without_package(&self, file: FileId, module: &str) -> bool {
        let package = module.rsplit_once('.').map(|(package, _)| package);
        let source = self.index.file(file).source;
        package.is_some_and(|package| self.index.find_module(source, package) == Module::Missing)
    }

    /// Whether the module is there and can have no such name: upstream's import of it fails, as where another package has
    /// moved on. A package may have a compiled submodule of that name, and some modules bind names by other means than
    /// statements.
    fn is_without_name(&self, file: FileId, missing: &Missing) -> bool {
        let (Module::File(module), Some(name)) =
            (self.index.find_module(self.index.file(file).source, &missing.module), &missing.name)
        else {
            return false;
        };
        let indexed = self.index.file(module);
        let facts = &indexed.facts;
        let is_sys = |name: &str| {
            let is_it = |external: &External| external.object_path().split('.').next() == Some("sys");
            matches!(self.index.resolve_global(module, name), Entity::External(external) if is_it(&external))
        };
        // `globals()[name] = x`, `setattr(sys.modules[__name__], name, x)`
        let binds_names = |statement: &Statement| {
            let references = || statement.references.iter();
            let names_itself = references().any(|reference| facts.name(reference.name) == "__name__");
            references().any(|reference| match facts.name(reference.name) {
                "globals" => true,
                "exec" | "locals" | "setattr" | "vars" => names_itself || reference.evaluation == Evaluation::Eager,
                name => names_itself && (name == "sys" || is_sys(name)),
            })
        };
        !indexed.file.path.ends_with("__init__.py")
            && indexed.binders("__getattr__").next().is_none()
            && !facts.statements.iter().any(binds_names)
            && !self.index.has_star_of_a_missing_module(module)
            && !self.index.is_attribute_assigned(name)
            && !self.is_stored_by_a_function(module, name)
    }

    /// A function may bind a global name that no statement at module level does.
    fn is_stored_by_a_function(&self, file: FileId, written: &str) -> bool {
        let facts = &self.index.file(file).facts;
        let name = written.split('.').next().expect("split yields at least one part");
        facts
            .statements
            .iter()
            .flat_map(|statement| &statement.references)
            .any(|reference| reference.access == Access::Store && facts.name(reference.name) == name)
    }

    /// What a module imports from outside of the corpus may be replaced; an import inside of a function stays.
    fn replace_external(&mut self, reference: &Reference, resolution: &Resolution) {
        let Entity::External(external) = &resolution.entity else { return };
        let path = external.object_path();
        if reference.binding != ReferenceBinding::Module || self.closure.external_replacements.contains_key(&path) {
            return;
        }
        let Some((replacement, plugin)) = self.rules.replacement(&path) else { return };
        self.closure.replaced.push(ReplacedRecord {
            what: path.clone(),
            by: replacement.by.clone(),
            why: replacement.why.clone(),
            plugin: plugin.to_owned(),
        });
        self.hold_keys_of_text(&replacement.by);
        self.closure.external_replacements.insert(path, replacement.clone());
    }

    /// The path of the object that a dotted path of a file leads to.
    fn dotted_path(&self, file: FileId, path: Symbol) -> Option<String> {
        let path = self.index.file(file).facts.name(path);
        let (entity, rest) = self.index.resolve_path(file, path);
        self.object_path(&entity, &rest)
    }

    /// The dotted path of what `rest`, read off `entity`, gives; `None` where it is no object that has one.
    fn object_path(&self, entity: &Entity, rest: &[&str]) -> Option<String> {
        let base = match entity {
            Entity::Variable(variable) => self.index.variable_path(*variable),
            Entity::External(external) => external.object_path(),
            _ => return None,
        };
        Some(std::iter::once(base.as_str()).chain(rest.iter().copied()).collect::<Vec<_>>().join("."))
    }

    /// The path of what a reference with its attributes names.
    fn reference_path(
        &self,
        definition: DefinitionId,
        reference: &Reference,
        resolution: &Resolution,
    ) -> Option<String> {
        let facts = &self.index.file(definition.file).facts;
        let rest = reference.path[resolution.consumed..].iter().map(|attribute| facts.name(attribute.name));
        self.object_path(&resolution.entity, &rest.collect::<Vec<_>>())
    }
}

/// A reference as far as it was resolved.
fn written(index: &Index, definition: DefinitionId, reference: &Reference, consumed: usize) -> String {
    let facts = &index.file(definition.file).facts;
    let mut written = facts.name(reference.name).to_owned();
    for attribute in &reference.path[..consumed] {
        written.push('.');
        written.push_str(facts.name(attribute.name));
    }
    written
}
