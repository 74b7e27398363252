//! What the files of an index register, and under which keys, by the rules of the shims about registries.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::rules::{Rules, matches, without_source};
use crate::facts::{BindingKind, Call, Decorator, Evaluation, KeyPlace, MutationKind, Reference, Role, StatementKind};
use crate::index::{DefinitionId, FileId, Index, Variable};
use crate::resolve::Entity;
use crate::shim::RegistryRule;
use crate::source::TextRange;

/// The registries of an index with their entries.
#[derive(Debug, Default)]
pub(super) struct Registrations {
    registries: BTreeMap<Variable, Registry>,
    entries: HashMap<(Variable, Box<str>), Vec<Entry>>,
    /// The statements among the entries, by the variable that first held the registry.
    statements: HashSet<(Variable, DefinitionId)>,
}

#[derive(Debug)]
struct Registry {
    /// A place in [`Rules::registries`].
    rule: usize,
    /// Registries that stand in the statement that makes this one: those that it falls back to.
    parents: BTreeSet<Variable>,
}

/// What makes an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// A decorator on what the variable names.
    Decorated(Variable),
    /// A statement.
    Statement(DefinitionId),
}

/// A use of a registry that makes an entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Registering<'rules> {
    pub(super) registry: Variable,
    pub(super) rule: &'rules RegistryRule,
    pub(super) plugin: &'rules str,
}

impl Registrations {
    pub(super) fn gather(index: &Index, rules: &Rules) -> Self {
        let mut gathered = Self::default();
        if rules.registries().next().is_none() {
            return gathered;
        }
        gathered.find_registries(index, rules);
        gathered.find_aliases(index);
        gathered.find_parents(index);
        for (file, indexed) in index.files() {
            let names_method = |rule: &RegistryRule| rule.methods.iter().any(|method| could_use(index, file, method));
            if !rules.registries().any(|(rule, _)| names_method(rule)) {
                continue;
            }
            for (position, statement) in (0u32..).zip(&indexed.facts.statements) {
                if statement.kind != StatementKind::MainGuard {
                    gathered.enter(index, rules, DefinitionId { file, statement: position });
                }
            }
        }
        gathered
    }

    /// What is registered under `key`, also where the key names a scope before it.
    pub(super) fn entries(&self, rules: &Rules, registry: Variable, key: &str) -> &[Entry] {
        let separator = self.rule(rules, registry).map_or("", |(rule, _)| &rule.scope_separator);
        let mut key = key;
        loop {
            if let Some(entries) = self.entries.get(&(registry, key.into())) {
                return entries;
            }
            match key.split_once(separator).filter(|_| !separator.is_empty()) {
                Some((_, rest)) => key = rest,
                None => return &[],
            }
        }
    }

    /// Whether a statement changes the registry by entries under known keys, and comes when one of them is asked for.
    pub(super) fn is_entry(&self, index: &Index, registry: Variable, statement: DefinitionId) -> bool {
        self.statements.contains(&(index.origin(registry), statement))
    }

    pub(super) fn is_registry(&self, variable: Variable) -> bool {
        self.registries.contains_key(&variable)
    }

    /// The registries that fall back to `registry`.
    pub(super) fn children(&self, registry: Variable) -> impl Iterator<Item = Variable> {
        self.registries.iter().filter(move |(_, child)| child.parents.contains(&registry)).map(|(child, _)| *child)
    }

    pub(super) fn rule<'rules>(
        &self,
        rules: &'rules Rules,
        registry: Variable,
    ) -> Option<(&'rules RegistryRule, &'rules str)> {
        rules.registries().nth(self.registries.get(&registry)?.rule)
    }

    /// The registry in which `path`, the callee of a decorator or call, makes an entry.
    pub(super) fn registering<'rules>(
        &self,
        rules: &'rules Rules,
        entity: &Entity,
        rest: &[&str],
    ) -> Option<Registering<'rules>> {
        let Entity::Variable(registry) = *entity else { return None };
        let (rule, plugin) = self.rule(rules, registry)?;
        let method = rest.join(".");
        rule.methods.contains(&method).then_some(Registering { registry, rule, plugin })
    }

    pub(super) fn of_decorator<'rules>(
        &self,
        index: &Index,
        rules: &'rules Rules,
        file: FileId,
        decorator: &Decorator,
    ) -> Option<Registering<'rules>> {
        let (entity, rest) = index.resolve_path(file, index.file(file).facts.name(decorator.path?));
        self.registering(rules, &entity, &rest)
    }

    pub(super) fn of_call<'rules>(
        &self,
        index: &Index,
        rules: &'rules Rules,
        definition: DefinitionId,
        call: &Call,
    ) -> Option<Registering<'rules>> {
        let facts = &index.file(definition.file).facts;
        let callee = index.statement(definition).references.iter().find(|found| found.range.start == call.callee)?;
        let resolution = index.resolve(definition, callee);
        let rest: Vec<&str> = callee.path[resolution.consumed..].iter().map(|part| facts.name(part.name)).collect();
        self.registering(rules, &resolution.entity, &rest)
    }

    fn find_registries(&mut self, index: &Index, rules: &Rules) {
        for (place, (rule, _)) in rules.registries().enumerate() {
            for (file, indexed) in index.files() {
                let named = indexed.bound_names().filter_map(|name| index.bound_symbol(file, name));
                for variable in named.map(|name| Variable { file, name }) {
                    let path = index.variable_path(variable);
                    if rule.objects.iter().any(|pattern| matches(pattern, without_source(&path))) {
                        self.add(variable, place);
                    }
                }
                for class in rule.classes.iter().filter(|class| could_use(index, file, last(class))) {
                    for variable in made_by(index, file, class) {
                        self.add(variable, place);
                    }
                }
            }
        }
    }

    fn add(&mut self, variable: Variable, rule: usize) {
        self.registries.entry(variable).or_insert(Registry { rule, parents: BTreeSet::new() });
    }

    /// `LOSSES = MODELS` is another name of a registry; it is kept as one that falls back to the other.
    fn find_aliases(&mut self, index: &Index) {
        loop {
            let known = |origin| self.registries.get(&origin).map(|registry| registry.rule);
            let aliases = index.other_names().filter_map(|(name, origin)| Some((name, known(origin)?)));
            let aliases: Vec<(Variable, usize)> = aliases.collect();
            let before = self.registries.len();
            aliases.into_iter().for_each(|(alias, rule)| self.add(alias, rule));
            if self.registries.len() == before {
                break;
            }
        }
    }

    fn find_parents(&mut self, index: &Index) {
        let known: BTreeSet<Variable> = self.registries.keys().copied().collect();
        for (variable, registry) in &mut self.registries {
            for (statement, _) in index.file(variable.file).binders(index.variable_name(*variable)) {
                let definition = DefinitionId { file: variable.file, statement };
                let used = index.statement(definition).references.iter();
                registry.parents.extend(used.filter_map(
                    |reference| match index.resolve(definition, reference).entity {
                        Entity::Variable(parent) if parent != *variable && known.contains(&parent) => Some(parent),
                        _ => None,
                    },
                ));
            }
        }
    }

    fn enter(&mut self, index: &Index, rules: &Rules, definition: DefinitionId) {
        let statement = index.statement(definition);
        let facts = &index.file(definition.file).facts;
        let classes = statement.classes.iter().map(|class| (class.name, &class.decorators));
        let functions = statement.functions.iter().map(|function| (function.name, &function.decorators));
        for (name, decorators) in classes.chain(functions) {
            for decorator in decorators {
                let Some(found) = self.of_decorator(index, rules, definition.file, decorator) else { continue };
                let mut keys = explicit_keys(index, definition, decorator.range, found.rule);
                if keys.is_empty() {
                    keys.push(facts.name(name).into());
                }
                let entry = Entry::Decorated(Variable { file: definition.file, name });
                keys.into_iter().for_each(|key| self.insert(index, found.registry, key, entry));
            }
        }
        if matches!(statement.kind, StatementKind::Class | StatementKind::Function) {
            return;
        }
        for call in &statement.calls {
            let Some(found) = self.of_call(index, rules, definition, call) else { continue };
            let mut keys = explicit_keys(index, definition, call.range, found.rule);
            if keys.is_empty() {
                keys = names_of_arguments(index, definition, call);
            }
            keys.into_iter().for_each(|key| self.insert(index, found.registry, key, Entry::Statement(definition)));
        }
        self.enter_items(index, rules, definition);
    }

    /// `TABLE["key"] = x`
    fn enter_items(&mut self, index: &Index, rules: &Rules, definition: DefinitionId) {
        let statement = index.statement(definition);
        let facts = &index.file(definition.file).facts;
        for mutation in statement.mutations.iter().filter(|mutation| mutation.kind == MutationKind::Item) {
            let path: Vec<&str> = [mutation.root].iter().chain(&mutation.path).map(|part| facts.name(*part)).collect();
            let (Entity::Variable(registry), []) = index.resolve_parts(definition.file, &path) else { continue };
            if self.rule(rules, registry).is_some_and(|(rule, _)| rule.methods.iter().any(|name| name == "__setitem__"))
            {
                let items = statement.keys.iter().filter(|key| key.place == KeyPlace::Item);
                items.for_each(|key| self.insert(index, registry, key.value.clone(), Entry::Statement(definition)));
            }
        }
    }

    fn insert(&mut self, index: &Index, registry: Variable, key: Box<str>, entry: Entry) {
        if let Entry::Statement(statement) = entry {
            self.statements.insert((index.origin(registry), statement));
        }
        let entries = self.entries.entry((registry, key)).or_default();
        if !entries.contains(&entry) {
            entries.push(entry);
        }
    }
}

/// Whether a file mentions a name; the empty one and operators are mentioned everywhere.
fn could_use(index: &Index, file: FileId, name: &str) -> bool {
    name.is_empty()
        || name.starts_with("__")
        || index.file(file).facts.symbols.iter().any(|symbol| last(symbol) == name)
}

fn last(path: &str) -> &str {
    path.rsplit('.').next().expect("split yields at least one part")
}

/// The globals of a file that an assignment binds to a call of `class`.
fn made_by(index: &Index, file: FileId, class: &str) -> Vec<Variable> {
    let indexed = index.file(file);
    let mut made = Vec::new();
    for (position, statement) in (0u32..).zip(&indexed.facts.statements) {
        if statement.kind != StatementKind::Assign || statement.calls.is_empty() {
            continue;
        }
        let definition = DefinitionId { file, statement: position };
        let calls_class = statement.references.iter().any(|reference| {
            statement.calls.iter().any(|call| call.callee == reference.range.start)
                && names(index, definition, reference, class)
        });
        if calls_class {
            made.extend(statement.bindings.iter().map(|binding| Variable { file, name: binding.name }));
        }
    }
    made
}

fn names(index: &Index, definition: DefinitionId, reference: &Reference, path: &str) -> bool {
    let resolution = index.resolve(definition, reference);
    if reference.path.len() != resolution.consumed {
        return false;
    }
    match resolution.entity {
        Entity::Variable(variable) => without_source(&index.variable_path(variable)) == path,
        Entity::External(external) => external.object_path() == path,
        _ => false,
    }
}

/// The keys that stand in a decorator or call.
fn explicit_keys(index: &Index, definition: DefinitionId, range: TextRange, rule: &RegistryRule) -> Vec<Box<str>> {
    let facts = &index.file(definition.file).facts;
    let keys = index.statement(definition).keys.iter().filter(|key| range.contains(key.range));
    keys.filter(|key| match key.place {
        KeyPlace::Positional => true,
        KeyPlace::Named(name) => facts.name(name) == rule.key_argument,
        KeyPlace::Item | KeyPlace::Value | KeyPlace::Schema => false,
    })
    .map(|key| key.value.clone())
    .collect()
}

/// The names of what a call without a key registers. A loop's variable stands for whatever the loop names.
///
/// ```python
/// for layer in [nn.ReLU, nn.Tanh]:
///     LAYERS.register(layer)
/// ```
fn names_of_arguments(index: &Index, definition: DefinitionId, call: &Call) -> Vec<Box<str>> {
    let statement = index.statement(definition);
    let facts = &index.file(definition.file).facts;
    let own_name = |reference: &Reference| -> Box<str> {
        facts.name(reference.path.last().map_or(reference.name, |attribute| attribute.name)).into()
    };
    let is_captured = |reference: &Reference| {
        let captures = |binding: &crate::facts::Binding| binding.kind == BindingKind::Capture;
        statement.bindings.iter().any(|binding| captures(binding) && binding.name == reference.name)
    };
    let arguments: Vec<&Reference> = statement
        .references
        .iter()
        .filter(|reference| call.range.contains(reference.range) && reference.role == Role::Argument)
        .collect();
    if arguments.iter().any(|argument| is_captured(argument)) {
        let named = statement.references.iter().filter(|reference| reference.evaluation == Evaluation::Eager);
        return named.filter(|reference| !call.range.contains(reference.range)).map(own_name).collect();
    }
    arguments.into_iter().map(own_name).collect()
}
