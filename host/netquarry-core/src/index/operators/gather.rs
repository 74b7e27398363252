//! Finds the operators of an index out.

use std::collections::HashMap;

use super::calls::{Argument, arguments, calls, variable_before};
use super::{OperatorName, Operators};
use crate::facts::{Attribute, Call, Evaluation, Reference, Role, Statement, StatementKind};
use crate::index::{DefinitionId, FileId, Index, Variable};
use crate::resolve::Entity;

/// The methods of a library that register something for one of its operators; it defines them by `define`.
const LIBRARY_REGISTERING: [&str; 4] =
    ["impl", "_impl_with_aoti_compile", "_register_fake", "_register_torch_dispatch_rule"];

pub(in crate::index) fn of(index: &Index) -> Operators {
    let files: Vec<FileId> = index.files().map(|(file, _)| file).filter(|file| may_use(index, *file)).collect();
    let mut gathering =
        Gathering { index, libraries: HashMap::new(), entries: Vec::new(), operators: Operators::default() };
    for definition in files.iter().flat_map(|file| statements(index, *file)) {
        gathering.find_spaces(definition);
        gathering.find_libraries(definition);
    }
    for definition in files.iter().flat_map(|file| statements(index, *file)) {
        gathering.enter(definition);
    }
    gathering.finish()
}

fn statements(index: &Index, file: FileId) -> impl Iterator<Item = DefinitionId> {
    let statements = (0u32..).zip(&index.file(file).facts.statements);
    let run = statements.filter(|(_, statement)| statement.kind != StatementKind::MainGuard);
    run.map(move |(statement, _)| DefinitionId { file, statement })
}

/// Whether a file mentions a part of `torch.library` or `torch.ops`, or an operator. A package that stays an import
/// registers its operators itself.
fn may_use(index: &Index, file: FileId) -> bool {
    let indexed = index.file(file);
    let facts = &indexed.facts;
    let is_part = |symbol: &str| {
        let last = symbol.rfind('.').map_or(symbol, |dot| &symbol[dot + 1..]);
        matches!(last, "Library" | "library" | "ops") || effect_of(last).is_some()
    };
    !index.is_kept_import(indexed.module())
        && (facts.symbols.iter().any(|symbol| is_part(symbol))
            || facts.statements.iter().flat_map(|statement| &statement.keys).any(|key| key.value.contains("::")))
}

struct Gathering<'index> {
    index: &'index Index,
    /// The namespaces of variables that hold a library.
    libraries: HashMap<Variable, Box<str>>,
    entries: Vec<(Variable, DefinitionId, OperatorName)>,
    operators: Operators,
}

/// What a call does with operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    Defines,
    /// `custom_op` and the like, which return an object for the operator.
    Makes,
    Registers,
}

/// What a call says about the operator that it is about.
enum Named {
    Operator(OperatorName),
    /// One of this namespace.
    Computed(Box<str>),
    Unreadable,
}

impl Gathering<'_> {
    /// `ops = torch.ops.mylib`
    fn find_spaces(&mut self, definition: DefinitionId) {
        let statement = self.index.statement(definition);
        let is_value = |found: &&Reference| found.role == Role::Value && found.evaluation == Evaluation::Eager;
        for reference in statement.references.iter().filter(is_value) {
            let Some(variable) = variable_before(definition, statement, reference.range.start) else { continue };
            if let Some(path) = self.index.path_in_torch(definition, reference)
                && (path == "torch.ops" || path.starts_with("torch.ops."))
            {
                self.operators.spaces.insert(variable, path);
                self.operators.space_bindings.insert((definition, reference.range.start));
            }
        }
    }

    /// `library = torch.library.Library("mylib", "DEF")`
    fn find_libraries(&mut self, definition: DefinitionId) {
        let statement = self.index.statement(definition);
        for (call, callee) in calls(statement).filter(|(_, callee)| callee.evaluation == Evaluation::Eager) {
            if self.library_function(definition, callee).is_none_or(|name| name != "Library") {
                continue;
            }
            if let (Some(variable), Some(Argument::Key(namespace))) =
                (variable_before(definition, statement, call.range.start), arguments(statement, call, callee)[0])
            {
                self.libraries.insert(variable, namespace.value.clone());
            }
        }
    }

    fn enter(&mut self, definition: DefinitionId) {
        let statement = self.index.statement(definition);
        for (call, callee) in calls(statement) {
            let (effect, named) = if let Some(function) = self.library_function(definition, callee) {
                let Some(effect) = effect_of(&function) else { continue };
                (effect, self.named_by_function(definition, arguments(statement, call, callee)))
            } else if let Some((library, effect)) = self.library_method(definition, callee) {
                let namespace = self.libraries[&library].clone();
                (effect, self.named_in(definition, namespace, arguments(statement, call, callee)[0]))
            } else {
                continue;
            };
            if callee.evaluation != Evaluation::Eager {
                // A function that defines operators does so for whoever calls it.
                self.note(definition, effect, Named::Unreadable);
                continue;
            }
            if let (Named::Operator(operator), Some((changed, _))) = (&named, self.called_variable(definition, callee))
            {
                self.entries.push((changed, definition, operator.clone()));
            }
            if effect == Effect::Makes {
                self.note_object(definition, statement, call);
            }
            self.note(definition, effect, named);
        }
    }

    /// The function of `torch.library` that is called, also by another name for it.
    fn library_function(&self, definition: DefinitionId, callee: &Reference) -> Option<String> {
        let path = self.index.path_in_torch(definition, callee)?;
        path.strip_prefix("torch.library.").map(str::to_owned)
    }

    /// The library of which a method is called.
    fn library_method(&self, definition: DefinitionId, callee: &Reference) -> Option<(Variable, Effect)> {
        let (library, [method]) = self.called_variable(definition, callee)? else { return None };
        let method = self.index.file(definition.file).facts.name(method.name);
        let effect = match method {
            "define" => Effect::Defines,
            _ if LIBRARY_REGISTERING.contains(&method) => Effect::Registers,
            _ => return None,
        };
        self.libraries.contains_key(&library).then_some((library, effect))
    }

    fn called_variable<'reference>(
        &self,
        definition: DefinitionId,
        callee: &'reference Reference,
    ) -> Option<(Variable, &'reference [Attribute])> {
        let resolution = self.index.resolve(definition, callee);
        match resolution.entity {
            Entity::Variable(variable) => Some((variable, &callee.path[resolution.consumed..])),
            _ => None,
        }
    }

    /// The operator that a function of `torch.library` is about: by its qualified name, by the operator itself, or by a
    /// library and a name in it.
    fn named_by_function(&self, definition: DefinitionId, [first, second]: [Option<Argument<'_>>; 2]) -> Named {
        let library = match first {
            Some(Argument::Reference(reference)) => match self.index.resolve(definition, reference).entity {
                Entity::Variable(variable) => self.libraries.get(&variable),
                _ => None,
            },
            Some(Argument::Key(_)) | None => None,
        };
        match library {
            Some(namespace) => self.named_in(definition, namespace.clone(), second),
            None => self.qualified(definition, first).map_or(Named::Unreadable, Named::Operator),
        }
    }

    /// The operator that a method of a library is about.
    fn named_in(&self, definition: DefinitionId, namespace: Box<str>, given: Option<Argument<'_>>) -> Named {
        if let Some(operator) = self.qualified(definition, given) {
            return Named::Operator(operator);
        }
        match given {
            Some(Argument::Key(key)) => {
                Named::Operator(OperatorName { namespace, name: without_overload(&key.value).into() })
            }
            Some(Argument::Reference(_)) | None => Named::Computed(namespace),
        }
    }

    /// `"mylib::scale"` or `torch.ops.mylib.scale`
    fn qualified(&self, definition: DefinitionId, given: Option<Argument<'_>>) -> Option<OperatorName> {
        match given? {
            Argument::Key(key) => {
                let (namespace, name) = key.value.split_once("::")?;
                Some(OperatorName { namespace: namespace.into(), name: without_overload(name).into() })
            }
            Argument::Reference(reference) => {
                let path = self.index.path_in_torch(definition, reference)?;
                let (namespace, name) = path.strip_prefix("torch.ops.")?.split_once('.')?;
                Some(OperatorName { namespace: namespace.into(), name: without_overload(name).into() })
            }
        }
    }

    /// The variable that is bound to what `call` makes: by an assignment, or the function under the decorator.
    fn note_object(&mut self, definition: DefinitionId, statement: &Statement, call: &Call) {
        let decorated = statement.functions.iter().find(|function| {
            function.decorators.iter().any(|decorator| decorator.called && decorator.range == call.range)
        });
        let variable = match decorated {
            Some(function) => Some(Variable { file: definition.file, name: function.name }),
            None => variable_before(definition, statement, call.range.start),
        };
        self.operators.objects.entry(definition).or_default().extend(variable);
    }

    fn note(&mut self, definition: DefinitionId, effect: Effect, named: Named) {
        let operator = match named {
            Named::Operator(operator) => {
                if effect != Effect::Registers {
                    self.operators.defined_by.entry(definition).or_default().push(operator.clone());
                }
                self.operators.named.entry(operator).or_default()
            }
            Named::Computed(namespace) => self.operators.computed.entry(namespace).or_default(),
            Named::Unreadable => {
                if effect != Effect::Registers {
                    self.operators.unreadable.push(definition);
                }
                return;
            }
        };
        match effect {
            Effect::Defines | Effect::Makes => operator.definitions.push(definition),
            Effect::Registers => operator.registrations.push(definition),
        }
    }

    fn finish(self) -> Operators {
        let Self { index, entries, mut operators, .. } = self;
        for operator in operators.named.values_mut().chain(operators.computed.values_mut()) {
            in_order(index, &mut operator.definitions);
            in_order(index, &mut operator.registrations);
        }
        operators.named.retain(|_, operator| !operator.definitions.is_empty());
        in_order(index, &mut operators.unreadable);
        let known = entries.into_iter().filter(|(.., operator)| operators.named.contains_key(operator));
        operators.entries = known.map(|(library, definition, _)| (library, definition)).collect();
        for (definition, variables) in &mut operators.objects {
            variables.retain(|variable| {
                let mut binders = index.file(variable.file).binders(index.variable_name(*variable));
                binders.all(|(statement, _)| statement == definition.statement)
            });
        }
        operators
    }
}

fn in_order(index: &Index, definitions: &mut Vec<DefinitionId>) {
    definitions.sort_by_key(|definition| index.imports().rank(*definition));
    definitions.dedup();
}

/// What a function of `torch.library` does.
fn effect_of(function: &str) -> Option<Effect> {
    match function {
        "define" => Some(Effect::Defines),
        "custom_op" | "triton_op" => Some(Effect::Makes),
        "impl"
        | "impl_abstract"
        | "register_autocast"
        | "register_autograd"
        | "register_fake"
        | "register_kernel"
        | "register_torch_dispatch"
        | "register_vmap" => Some(Effect::Registers),
        _ => None,
    }
}

/// `scale` of `scale.out`
fn without_overload(name: &str) -> &str {
    name.split('.').next().expect("split yields at least one part")
}
