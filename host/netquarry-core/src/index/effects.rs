//! What functions change when they are called, and who calls them while the modules are imported.
//!
//! ```python
//! LAYERS = {}
//!
//! def register(cls):
//!     LAYERS[cls.__name__] = cls
//!     return cls
//!
//! @register
//! class Gate: ...
//! ```
//!
//! `Gate` is an *entry* of `LAYERS`, by `register`, and by nothing that the statements of `LAYERS`' own module say. The
//! same holds for `@MODELS.register` where another module made the object `MODELS`: see [`super::mutations`].

use std::collections::{BTreeSet, HashMap, HashSet};

use super::mutations::{is_accessor, is_container_mutator, is_making};
use super::{DefinitionId, FileId, Index, Variable};
use crate::facts::{
    BindingKind, Call, Decorator, Effect, Evaluation, ImportForm, Mutation, MutationKind, Reference, Role, Statement,
    StatementKind, Symbol,
};
use crate::resolve::Entity;
use crate::source::TextRange;

/// Who changes what by calls, over all files.
#[derive(Debug, Default)]
pub struct Effects {
    /// What calls of a function change, by the function's variable; also of what an assignment makes of such a function.
    changed: HashMap<Variable, BTreeSet<Variable>>,
    /// Functions with an object that their own text changes.
    direct: HashSet<(Variable, Variable)>,
    /// In the order of their places.
    entries: HashMap<Variable, Vec<Entry>>,
    /// The methods by which entries are made.
    methods: HashMap<Variable, BTreeSet<Box<str>>>,
}

/// A decorator or call that changes an object when its module is imported.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    pub definition: DefinitionId,
    /// Of the decorator, without the `@`, or of the call.
    pub range: TextRange,
    /// The dotted path of what is called, with its source.
    pub by: String,
    pub is_decorator: bool,
}

impl Effects {
    pub(super) fn of(index: &Index) -> Self {
        let mut effects = Self::default();
        effects.take_functions(index);
        effects.take_wrappers(index);
        effects.take_callers(index);
        effects.take_entries(index);
        effects
    }

    /// The decorators and calls that change `variable`, beside the statements of [`Index::mutations_of`].
    pub fn entries(&self, variable: Variable) -> &[Entry] {
        self.entries.get(&variable).map_or(&[], Vec::as_slice)
    }

    /// Those of them that stand in one definition.
    pub fn entries_by(&self, variable: Variable, definition: DefinitionId) -> impl Iterator<Item = &Entry> {
        let entries = self.entries(variable);
        let start = entries.partition_point(|entry| entry.definition < definition);
        entries[start..].iter().take_while(move |entry| entry.definition == definition)
    }

    /// What a call of `function` changes.
    pub fn changed_by(&self, function: Variable) -> impl Iterator<Item = Variable> {
        self.changed.get(&function).into_iter().flatten().copied()
    }

    /// Whether calls of `function` change `variable`, and its own text says so.
    pub fn changes_itself(&self, function: Variable, variable: Variable) -> bool {
        self.direct.contains(&(function, variable))
    }

    /// Whether entries of `variable` are made by its method of this name.
    pub fn is_made_by(&self, variable: Variable, method: &str) -> bool {
        self.methods.get(&variable).is_some_and(|methods| methods.contains(method))
    }

    fn take_functions(&mut self, index: &Index) {
        for (file, indexed) in index.files() {
            for Effect { function, mutation } in
                indexed.facts.statements.iter().flat_map(|statement| &statement.effects)
            {
                if let Some(changed) = changed(index, file, mutation) {
                    let function = Variable { file, name: *function };
                    self.direct.insert((function, changed));
                    self.changed.entry(function).or_default().insert(changed);
                }
            }
        }
    }

    /// What registers by a method of an object in the end: `def register_layer(name): return LAYERS.register(name)` or
    /// `register_layer = LAYERS.register`, where it is used as a decorator or called for its effect. Of other functions
    /// nothing tells whether the method changes the object or asks it.
    fn take_wrappers(&mut self, index: &Index) {
        let mut waiting: Vec<Variable> = registering(index).into_iter().collect();
        let mut seen: HashSet<Variable> = waiting.iter().copied().collect();
        while let Some(function) = waiting.pop() {
            for (position, _) in index.file(function.file).binders(index.variable_name(function)) {
                let definition = DefinitionId { file: function.file, statement: position };
                let statement = index.statement(definition);
                for reference in &statement.references {
                    if caller(statement, reference) != Some(function.name) {
                        continue;
                    }
                    let resolution = index.resolve(definition, reference);
                    let Entity::Variable(variable) = resolution.entity else { continue };
                    match reference.path.len() - resolution.consumed {
                        0 if seen.insert(variable) => waiting.push(variable),
                        1 if is_instance(index, index.origin(variable)) => {
                            let variable = index.origin(variable);
                            self.direct.insert((function, variable));
                            self.changed.entry(function).or_default().insert(variable);
                        }
                        _ => {}
                    }
                }
            }
        }
    }

    /// A function that calls one that changes something does so too, and so does what an assignment makes of it:
    /// `register_gate = partial(register, "gate")`.
    fn take_callers(&mut self, index: &Index) {
        let aliases = aliases(index);
        let mut latest: BTreeSet<Variable> = self.changed.keys().copied().collect();
        while !latest.is_empty() {
            let mut names: HashSet<&str> = latest.iter().map(|function| index.variable_name(*function)).collect();
            let mut waiting: Vec<&str> = names.iter().copied().collect();
            while let Some(name) = waiting.pop() {
                waiting.extend(aliases.get(name).into_iter().flatten().filter(|alias| names.insert(alias)));
            }
            let mut next = BTreeSet::new();
            for (file, indexed) in index.files() {
                let facts = &indexed.facts;
                let is_named = |reference: &Reference| {
                    let last = reference.path.last().map_or(reference.name, |attribute| attribute.name);
                    names.contains(facts.name(last))
                };
                if !facts.symbols.iter().any(|symbol| names.contains(&**symbol)) {
                    continue;
                }
                for (position, statement) in (0u32..).zip(&facts.statements) {
                    let definition = DefinitionId { file, statement: position };
                    for reference in statement.references.iter().filter(|reference| is_named(reference)) {
                        let Some(caller) = caller(statement, reference) else { continue };
                        let Some(called) = index.resolve_whole(definition, reference) else { continue };
                        let changed = self.changed.get(&called).cloned().unwrap_or_default();
                        let caller = Variable { file, name: caller };
                        let known = self.changed.get(&caller);
                        if changed.iter().any(|changed| known.is_none_or(|known| !known.contains(changed))) {
                            self.changed.entry(caller).or_default().extend(changed);
                            next.insert(caller);
                        }
                    }
                }
            }
            latest = next;
        }
    }

    fn take_entries(&mut self, index: &Index) {
        for (file, indexed) in index.files() {
            for (position, statement) in (0u32..).zip(&indexed.facts.statements) {
                if statement.kind == StatementKind::MainGuard {
                    continue;
                }
                let definition = DefinitionId { file, statement: position };
                let of_classes = statement.classes.iter().flat_map(|class| &class.decorators);
                let of_functions = statement.functions.iter().flat_map(|function| &function.decorators);
                for decorator in of_classes.chain(of_functions) {
                    self.take_decorator(index, definition, decorator);
                }
                if !matches!(statement.kind, StatementKind::Class | StatementKind::Function) {
                    for call in &statement.calls {
                        self.take_call(index, definition, call);
                    }
                }
            }
        }
        for entries in self.entries.values_mut() {
            entries.sort();
            entries.dedup();
        }
    }

    fn take_decorator(&mut self, index: &Index, definition: DefinitionId, decorator: &Decorator) {
        let Some(path) = decorator.path else { return };
        let (entity, rest) = index.resolve_path(definition.file, index.file(definition.file).facts.name(path));
        let Entity::Variable(variable) = entity else { return };
        self.take(index, variable, &rest, definition, decorator.range, Maker::Decorator);
    }

    /// A call whose result nobody keeps is made for its effect, if anything is given to a method; another one where it is
    /// given a class or function of the index.
    fn take_call(&mut self, index: &Index, definition: DefinitionId, call: &Call) {
        let statement = index.statement(definition);
        let facts = &index.file(definition.file).facts;
        let is_callee =
            |reference: &&Reference| reference.range.start == call.callee && reference.evaluation == Evaluation::Eager;
        let Some(callee) = statement.references.iter().find(is_callee) else { return };
        let resolution = index.resolve(definition, callee);
        let Entity::Variable(variable) = resolution.entity else { return };
        let rest: Vec<&str> = callee.path[resolution.consumed..].iter().map(|part| facts.name(part.name)).collect();
        let maker = match call.statement_in {
            Some(_) => Maker::Statement,
            None if statement.kind == StatementKind::Expression => Maker::InStatement,
            None => Maker::Value,
        };
        let is_function = rest.is_empty() && self.changed.contains_key(&variable);
        let is_filling = maker == Maker::Statement
            && !rest.is_empty()
            && is_instance(index, index.origin(variable))
            && takes_object(index, definition, call);
        if is_function && maker != Maker::Value || is_filling || takes_definition(index, definition, call) {
            self.take(index, variable, &rest, definition, call.range, maker);
        }
    }

    fn take(
        &mut self,
        index: &Index,
        variable: Variable,
        rest: &[&str],
        definition: DefinitionId,
        range: TextRange,
        maker: Maker,
    ) {
        let path = index.variable_path(variable);
        let by = std::iter::once(path.as_str()).chain(rest.iter().copied()).collect::<Vec<_>>().join(".");
        let is_decorator = maker == Maker::Decorator;
        let entry = Entry { definition, range, by, is_decorator };
        let Some(method) = rest.last() else {
            for changed in self.changed.get(&variable).into_iter().flatten() {
                self.entries.entry(*changed).or_default().push(entry.clone());
            }
            return;
        };
        // What the module that made the object says of it are its mutations, as are changes of built-in containers.
        let variable = index.origin(variable);
        let is_mutation = is_making(index, definition, variable, rest, is_decorator)
            || maker == Maker::Statement && is_container_mutator(method);
        if is_mutation || is_decorator && is_accessor(method) {
            return;
        }
        // A call whose value is kept may look something up as well.
        if maker != Maker::Value {
            self.methods.entry(variable).or_default().insert((*method).into());
        }
        self.entries.entry(variable).or_default().push(entry);
    }
}

/// The globals that are decorators of classes and functions, or that module-level statements call for their effect.
fn registering(index: &Index) -> HashSet<Variable> {
    let mut found = HashSet::new();
    for (file, indexed) in index.files() {
        for (position, statement) in (0u32..).zip(&indexed.facts.statements) {
            let definition = DefinitionId { file, statement: position };
            let of_classes = statement.classes.iter().flat_map(|class| &class.decorators);
            let of_functions = statement.functions.iter().flat_map(|function| &function.decorators);
            for path in of_classes.chain(of_functions).filter_map(|decorator| decorator.path) {
                let (entity, rest) = index.resolve_path(file, indexed.facts.name(path));
                if let (Entity::Variable(variable), true) = (entity, rest.is_empty()) {
                    found.insert(variable);
                }
            }
            for call in statement.calls.iter().filter(|call| call.statement_in.is_some()) {
                let callee = statement.references.iter().find(|reference| {
                    reference.range.start == call.callee && reference.evaluation == Evaluation::Eager
                });
                found.extend(callee.and_then(|callee| index.resolve_whole(definition, callee)));
            }
        }
    }
    found
}

/// Whether a variable is bound to what a call of a class of the index makes.
fn is_instance(index: &Index, variable: Variable) -> bool {
    let file = index.file(variable.file);
    file.binders(index.variable_name(variable)).any(|(position, _)| {
        let definition = DefinitionId { file: variable.file, statement: position };
        let statement = index.statement(definition);
        let is_called =
            |reference: &&Reference| statement.calls.iter().any(|call| call.callee == reference.range.start);
        let mut callees = statement.references.iter().filter(is_called);
        statement.kind == StatementKind::Assign
            && callees.any(|callee| {
                index.resolve_whole(definition, callee).is_some_and(|class| index.class_of(class).is_some())
            })
    })
}

/// What makes an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Maker {
    Decorator,
    /// A call that is a statement by itself.
    Statement,
    /// A call in a statement of which nothing is kept: `register("gate")(Gate)`.
    InStatement,
    /// A call of which something is kept.
    Value,
}

/// The variable of the index that calling a function with this effect changes.
fn changed(index: &Index, file: FileId, mutation: &Mutation) -> Option<Variable> {
    let facts = &index.file(file).facts;
    let path: Vec<&str> = std::iter::once(&mutation.root).chain(&mutation.path).map(|part| facts.name(*part)).collect();
    let (Entity::Variable(variable), rest) = index.resolve_parts(file, &path) else { return None };
    // What any other method does to its object, only its class knows.
    let is_change =
        mutation.kind != MutationKind::Method || rest.last().is_some_and(|method| is_container_mutator(method));
    is_change.then(|| index.origin(variable))
}

/// Other names under which some file imports a name.
fn aliases(index: &Index) -> HashMap<&str, BTreeSet<&str>> {
    let mut aliases: HashMap<&str, BTreeSet<&str>> = HashMap::new();
    for (_, indexed) in index.files() {
        let facts = &indexed.facts;
        for import in facts.statements.iter().flat_map(|statement| &statement.imports) {
            for imported in import.names.iter().filter(|_| matches!(import.form, ImportForm::From { .. })) {
                if let Some(alias) = imported.alias {
                    aliases.entry(facts.name(imported.name)).or_default().insert(facts.name(alias));
                }
            }
        }
    }
    aliases
}

/// The global that calls what a reference names: the function in whose body it stands, or what an assignment binds to
/// something made of it.
fn caller(statement: &Statement, reference: &Reference) -> Option<Symbol> {
    if let (StatementKind::Assign, [binding]) = (statement.kind, &*statement.bindings) {
        return (reference.evaluation == Evaluation::Eager).then_some(binding.name);
    }
    let is_call = reference.role == Role::Callee && reference.evaluation == Evaluation::Lazy;
    let mut functions = statement.functions.iter().filter(|_| is_call);
    functions.find(|function| function.range.contains(reference.range)).map(|function| function.name)
}

/// Whether anything but what is written out is an argument of the call.
fn takes_object(index: &Index, definition: DefinitionId, call: &Call) -> bool {
    let references = index.statement(definition).references.iter();
    let mut arguments =
        references.filter(|reference| reference.role == Role::Argument && call.range.contains(reference.range));
    arguments.any(|argument| {
        !matches!(index.resolve(definition, argument).entity, Entity::Builtin | Entity::ModuleAttribute(_))
    })
}

/// Whether a class or function of the index is an argument of the call.
fn takes_definition(index: &Index, definition: DefinitionId, call: &Call) -> bool {
    let references = index.statement(definition).references.iter();
    let mut arguments =
        references.filter(|reference| reference.role == Role::Argument && call.range.contains(reference.range));
    arguments.any(|argument| {
        index.resolve_whole(definition, argument).is_some_and(|Variable { file, name }| {
            let mut binders = index.file(file).binders(index.file(file).facts.name(name));
            binders.any(|(_, binding)| matches!(binding.kind, BindingKind::Class | BindingKind::Function))
        })
    })
}
