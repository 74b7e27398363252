//! Where the files of an index construct a class, or say how to: what others pass to it tells what it takes.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use rayon::prelude::*;

use super::{DefinitionId, FileId, Index, SourceId, Variable};
use crate::facts::{
    BindingKind, Call, ClassFacts, KeyPlace, KeyString, LocalValue, Reference, ReferenceBinding, ScopeId, ScopeKind,
    Statement, StatementKind, Symbol, WrittenValue,
};
use crate::resolve::Entity;
use crate::source::TextRange;

/// A call of a class, or a configuration that names it.
///
/// ```python
/// Block(width, heads=8)
/// dict(type="Block", heads=8)
/// {"type": "Block", "heads": 8}
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    pub file: FileId,
    /// The whole call or dictionary.
    pub range: TextRange,
    /// The key of a configuration that names the class: `type`.
    pub naming: Option<Symbol>,
    /// What the names in it mean that no function binds for itself.
    pub names: BTreeMap<Box<str>, Meaning>,
    /// What names of the functions around it stand for, whether it uses them or not: `size` and `norm` in
    /// `def build(size=64): norm = partial(Norm, size); return Block(size, norm)`.
    pub local: BTreeMap<Box<str>, WrittenValue>,
    /// Likewise those in what all of these are bound to, and so on. One of them may be bound by a function in the
    /// site itself, and means something else there.
    pub further: BTreeMap<Box<str>, Meaning>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// Something that a bundle may have under this name.
    Itself,
    /// Something that every bundle has at hand, by its dotted path: `torch.nn` for `nn`.
    AtHand(String),
    /// What this statement of the same file binds it to, and no other does: `width = 64`.
    Bound(DefinitionId),
}

/// A site that needs more names is none that stands by itself.
const MOST_NAMES: usize = 64;
/// Of functions with more local names, not all are looked at.
const MOST_LOCALS: usize = 256;

/// The packages that arguments may name whatever a bundle imports.
const AT_HAND: [&str; 3] = ["functools", "torch", "types"];

impl Index {
    /// The sites of each of `classes` that has any, in the order of the files and of their text.
    pub fn sites(&self, classes: &BTreeSet<Variable>) -> BTreeMap<Variable, Vec<Site>> {
        let wanted = Wanted::new(self, classes);
        let files: Vec<FileId> = self.files().map(|(file, _)| file).collect();
        let found: Vec<Vec<(Variable, Site)>> = files.into_par_iter().map(|file| wanted.in_file(file)).collect();
        let mut sites: BTreeMap<Variable, Vec<Site>> = BTreeMap::new();
        for (class, site) in found.into_iter().flatten() {
            sites.entry(class).or_default().push(site);
        }
        sites
    }
}

/// The classes that are looked for.
struct Wanted<'a> {
    index: &'a Index,
    classes: &'a BTreeSet<Variable>,
    /// Whatever a file calls one of them, it mentions one of these.
    names: HashSet<&'a str>,
    /// Every class of the index that has a name or key of one of them.
    by_key: HashMap<&'a str, BTreeSet<Variable>>,
}

/// The meaning of the dotted names of one file that need no look at where they stand.
type Known = HashMap<(Symbol, Vec<Symbol>), Option<Variable>>;

impl<'a> Wanted<'a> {
    fn new(index: &'a Index, classes: &'a BTreeSet<Variable>) -> Self {
        let mut by_key: HashMap<&str, BTreeSet<Variable>> = HashMap::new();
        for class in classes {
            let facts = index.class_of(*class).map(|(_, facts)| facts);
            let keys = facts.into_iter().flat_map(|facts| keys(index, class.file, facts));
            keys.for_each(|key| _ = by_key.entry(key).or_default().insert(*class));
        }
        // Which of them a key means does not depend on which are looked for.
        for (definition, facts) in index.classes() {
            let class = Variable { file: definition.file, name: facts.name };
            for key in keys(index, definition.file, facts) {
                by_key.entry(key).and_modify(|classes| _ = classes.insert(class));
            }
        }
        Self { index, classes, names: names(index, classes), by_key }
    }

    fn in_file(&self, file: FileId) -> Vec<(Variable, Site)> {
        let facts = &self.index.file(file).facts;
        let last = |path: &'a str| path.rsplit('.').next().expect("split yields at least one part");
        let mentions_class = facts.symbols.iter().any(|symbol| self.names.contains(last(symbol)));
        let mut known = Known::new();
        let mut found = Vec::new();
        for (position, statement) in (0u32..).zip(&facts.statements) {
            let definition = DefinitionId { file, statement: position };
            if mentions_class {
                let called = statement.calls.iter().filter_map(|call| {
                    let class = self.called(definition, call, &mut known)?;
                    let scope = callee(statement, call)?.scope;
                    Some((class, self.site(definition, call.range, None, scope)?))
                });
                found.extend(called);
            }
            for key in &statement.keys {
                found.extend(self.configured(definition, key));
            }
        }
        found.sort_by_key(|(class, site)| (site.range, *class));
        found
    }

    /// The class that a call constructs.
    fn called(&self, definition: DefinitionId, call: &Call, known: &mut Known) -> Option<Variable> {
        let reference = callee(self.index.statement(definition), call)?;
        let resolve = || self.index.resolve_whole(definition, reference);
        let variable = match reference.binding {
            ReferenceBinding::LocalImport { .. } => resolve(),
            ReferenceBinding::Module => {
                let path = reference.path.iter().map(|attribute| attribute.name).collect();
                *known.entry((reference.name, path)).or_insert_with(resolve)
            }
        };
        variable.map(|variable| self.index.origin(variable)).filter(|class| self.classes.contains(class))
    }

    /// The classes that `key` stands for in a configuration, each with that.
    fn configured(&self, definition: DefinitionId, key: &KeyString) -> Vec<(Variable, Site)> {
        let (KeyPlace::Named(naming), Some(classes)) = (key.place, self.by_key.get(&*key.value)) else {
            return Vec::new();
        };
        let statement = self.index.statement(definition);
        let calls = statement.calls.iter().map(|call| (call.range, Some(call)));
        let around = calls.chain(statement.configurations.iter().map(|range| (*range, None)));
        let nearest = around.filter(|(range, _)| range.contains(key.range)).min_by_key(|(range, _)| range.len());
        let Some((range, call)) = nearest else { return Vec::new() };
        if call.is_some_and(|call| !self.makes_dictionary(definition, call)) {
            return Vec::new();
        }
        let called = call.and_then(|call| callee(statement, call));
        let scope = called.map_or_else(|| self.innermost(definition.file, range), |reference| reference.scope);
        let Some(site) = self.site(definition, range, Some(naming), scope) else { return Vec::new() };
        let source = self.index.file(definition.file).source;
        let meant = self.nearest(classes, source).filter(|class| self.classes.contains(class));
        meant.map(|class| (class, site.clone())).collect()
    }

    /// The scope of the innermost function, class or comprehension around a part of a file.
    fn innermost(&self, file: FileId, range: TextRange) -> ScopeId {
        let scopes = (0..).map(ScopeId).zip(&self.index.file(file).facts.scopes);
        let around = scopes.filter(|(id, scope)| id.0 == 0 || scope.range.contains(range));
        around.last().expect("the module is around everything").0
    }

    fn makes_dictionary(&self, definition: DefinitionId, call: &Call) -> bool {
        callee(self.index.statement(definition), call).is_some_and(|reference| {
            let facts = &self.index.file(definition.file).facts;
            facts.name(reference.name) == "dict"
                && reference.path.is_empty()
                && self.index.resolve(definition, reference).entity == Entity::Builtin
        })
    }

    /// Of several classes under one key, those of the source that uses it.
    fn nearest(&self, classes: &BTreeSet<Variable>, source: SourceId) -> impl Iterator<Item = Variable> {
        let is_own = move |class: &Variable| self.index.file(class.file).source == source;
        let has_own = classes.iter().any(is_own);
        classes.iter().copied().filter(move |class| !has_own || is_own(class))
    }

    /// `None` where it needs too many names. `scope` is the one that it stands in.
    fn site(&self, definition: DefinitionId, range: TextRange, naming: Option<Symbol>, scope: ScopeId) -> Option<Site> {
        let names: BTreeMap<Box<str>, Meaning> = self.meanings(definition, range).collect();
        let mut further = BTreeMap::new();
        let mut left = MOST_NAMES.checked_sub(names.len())?;
        let mut waiting: Vec<Meaning> = names.values().cloned().collect();
        while let Some(meaning) = waiting.pop() {
            let Meaning::Bound(binder) = meaning else { continue };
            for (name, meaning) in self.meanings(binder, self.index.statement(binder).range) {
                if let Entry::Vacant(entry) = further.entry(name) {
                    left = left.checked_sub(1)?;
                    waiting.push(entry.insert(meaning).clone());
                }
            }
        }
        let mut local = self.local_values(definition, scope);
        // What is global behind a global name is not what a function calls so.
        local.retain(|name, _| !further.contains_key(name));
        for value in local.values() {
            waiting.extend(self.meanings(definition, value.range).filter_map(|(name, meaning)| {
                let Entry::Vacant(entry) = further.entry(name) else { return None };
                Some(entry.insert(meaning).clone())
            }));
        }
        while let Some(meaning) = waiting.pop() {
            let Meaning::Bound(binder) = meaning else { continue };
            for (name, meaning) in self.meanings(binder, self.index.statement(binder).range) {
                if !local.contains_key(&name)
                    && let Entry::Vacant(entry) = further.entry(name)
                {
                    waiting.push(entry.insert(meaning).clone());
                }
            }
        }
        Some(Site { file: definition.file, range, naming, names, local, further })
    }

    /// What the names of the functions around a scope stand for in it, as far as that is written out, and so is all that
    /// it needs.
    fn local_values(&self, definition: DefinitionId, scope: ScopeId) -> BTreeMap<Box<str>, WrittenValue> {
        let facts = &self.index.file(definition.file).facts;
        let all = &self.index.statement(definition).local_values;
        let scope_of = |id: ScopeId| &facts.scopes[id.0 as usize];
        let around: Vec<ScopeId> = std::iter::successors(Some(scope), |id| scope_of(*id).parent).collect();
        // Methods do not see what the body of their class binds.
        let seen = around.iter().filter(|id| **id == scope || scope_of(**id).kind != ScopeKind::Class);
        let seen: Vec<ScopeId> = seen.copied().collect();
        let binder = |name: Symbol| seen.iter().find(|id| scope_of(**id).locals.contains(&name)).copied();
        let of_scope = |id: &ScopeId| {
            let first = all.partition_point(|value| value.scope < *id);
            let count = all[first..].partition_point(|value| value.scope == *id);
            &all[first..first + count]
        };
        let meant = seen.iter().flat_map(of_scope).filter(|value| binder(value.name) == Some(value.scope));
        let mut values: BTreeMap<Symbol, &LocalValue> =
            meant.take(MOST_LOCALS).map(|value| (value.name, value)).collect();
        // What a name of the module is in the value of a local one cannot be said beside a local one of that name.
        let locals: HashSet<&str> = values.keys().map(|name| facts.name(*name)).collect();
        values
            .retain(|_, value| self.meanings(definition, value.value.range).all(|(name, _)| !locals.contains(&*name)));
        loop {
            let lacks = |value: &LocalValue| {
                let is_there =
                    |(name, scope): &(Symbol, ScopeId)| values.get(name).is_some_and(|at| at.scope == *scope);
                !value.needs.iter().all(is_there)
            };
            let lacking: Vec<Symbol> = values.iter().filter(|(_, value)| lacks(value)).map(|(name, _)| *name).collect();
            if lacking.is_empty() {
                break;
            }
            lacking.iter().for_each(|name| _ = values.remove(name));
        }
        values.into_values().map(|value| (facts.name(value.name).into(), value.value.clone())).collect()
    }

    /// The names in a part of a statement that no function binds for itself.
    fn meanings(&self, definition: DefinitionId, range: TextRange) -> impl Iterator<Item = (Box<str>, Meaning)> {
        let facts = &self.index.file(definition.file).facts;
        let references = &self.index.statement(definition).references;
        let first = references.partition_point(|reference| reference.range.start < range.start);
        let within = references[first..].iter().take_while(move |reference| reference.range.start < range.end);
        let named = within.filter(|reference| !reference.quoted);
        named.map(move |reference| (facts.name(reference.name).into(), self.meaning(definition, reference)))
    }

    fn meaning(&self, definition: DefinitionId, reference: &Reference) -> Meaning {
        let name = self.index.file(definition.file).facts.name(reference.name);
        let entity = match reference.binding {
            ReferenceBinding::Module => self.index.resolve_global(definition.file, name),
            ReferenceBinding::LocalImport { import, name, .. } => {
                let import = &self.index.statement(definition).imports[import as usize];
                self.index.resolve_imported(definition.file, import, name)
            }
        };
        match entity {
            Entity::External(external) if AT_HAND.contains(&external.package()) => {
                Meaning::AtHand(external.object_path())
            }
            Entity::Variable(variable) if variable.file == definition.file => {
                self.only_assignment(definition.file, name).map_or(Meaning::Itself, Meaning::Bound)
            }
            _ => Meaning::Itself,
        }
    }

    /// The statement `name = value`, where nothing else binds the name.
    fn only_assignment(&self, file: FileId, name: &str) -> Option<DefinitionId> {
        let indexed = self.index.file(file);
        let mut binders = indexed.binders(name);
        let (statement, binding) = binders.next()?;
        let is_plain = indexed.statement(statement).kind == StatementKind::Assign
            && indexed.statement(statement).bindings.len() == 1
            && binding.kind == BindingKind::Assignment;
        (is_plain && binders.next().is_none()).then_some(DefinitionId { file, statement })
    }
}

/// The names of classes, and those under which files import them or keep them.
fn names<'a>(index: &'a Index, classes: &BTreeSet<Variable>) -> HashSet<&'a str> {
    let kept = index.other_names().map(|(name, _)| name).filter(|name| classes.contains(&index.origin(*name)));
    let mut names: HashSet<&str> =
        classes.iter().copied().chain(kept).map(|variable| index.variable_name(variable)).collect();
    let aliases = index.files().flat_map(|(_, file)| {
        let facts = &file.facts;
        let imports = facts.statements.iter().flat_map(|statement| &statement.imports);
        let imported = imports.flat_map(|import| &import.names);
        imported.filter_map(move |imported| Some((facts.name(imported.name), facts.name(imported.alias?))))
    });
    let aliases: Vec<(&str, &str)> = aliases.collect();
    // An alias may be imported under another one.
    loop {
        let before = names.len();
        let found: Vec<&str> =
            aliases.iter().filter(|(name, _)| names.contains(*name)).map(|(_, alias)| *alias).collect();
        names.extend(found);
        if names.len() == before {
            return names;
        }
    }
}

/// The name of a class, and the strings in its decorators, which may be keys of registries.
fn keys<'a>(index: &'a Index, file: FileId, class: &'a ClassFacts) -> impl Iterator<Item = &'a str> {
    let strings = class.decorators.iter().flat_map(|decorator| &decorator.strings);
    std::iter::once(index.file(file).facts.name(class.name)).chain(strings.map(|(_, string)| &**string))
}

/// The reference that a call calls, where that is a global name or its attribute.
fn callee<'a>(statement: &'a Statement, call: &Call) -> Option<&'a Reference> {
    let references = &statement.references;
    let place = references.binary_search_by_key(&call.callee, |reference| reference.range.start).ok()?;
    Some(&references[place])
}
