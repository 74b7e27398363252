//! Operators that files define through `torch.library`, and what else is registered for them.
//!
//! An operator is bound to no variable. Whoever uses it asks torch for its qualified name, `torch.ops.mylib.scale`, and
//! the statements that define it, add a kernel to it or tell how it is differentiated may stand in any module:
//!
//! ```python
//! library = torch.library.Library("mylib", "DEF")
//! library.define("scale(Tensor x, float s) -> Tensor")
//!
//! @torch.library.impl(library, "scale", "CPU")
//! def scale_cpu(x, s): ...
//! ```
//!
//! Only statements that run when their module is imported are seen, and only names that can be read off the text. What is
//! registered for an operator that no file defines (one of torch itself, or a compiled one) belongs to whoever defines
//! it, and is left alone.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::{DefinitionId, FileId, Index, Variable};
use crate::facts::{BindingKind, Call, Evaluation, KeyPlace, KeyString, Reference, Role, Statement, StatementKind};
use crate::resolve::Entity;

const TORCH: &str = "torch";

/// The functions of `torch.library` that define an operator.
const DEFINING: [&str; 3] = ["define", "custom_op", "triton_op"];

/// Those that register something for one.
const REGISTERING: [&str; 8] = [
    "impl",
    "impl_abstract",
    "register_autocast",
    "register_autograd",
    "register_fake",
    "register_kernel",
    "register_torch_dispatch",
    "register_vmap",
];

/// The methods of a library that register something for one of its operators; it defines them by `define`.
const LIBRARY_REGISTERING: [&str; 4] =
    ["impl", "_impl_with_aoti_compile", "_register_fake", "_register_torch_dispatch_rule"];

/// The namespaces of torch's own operators, sorted.
const OF_TORCH: [&str; 33] = [
    "_c10d_functional",
    "_c10d_functional_autograd",
    "_dtensor",
    "_native",
    "_native_aot",
    "_quantized",
    "_test",
    "aten",
    "c10d",
    "cuda",
    "debug_mode_ops",
    "debugprims",
    "export",
    "flex_gemm",
    "fsdp",
    "higher_order",
    "inductor",
    "inductor_prims",
    "mkl",
    "mkldnn",
    "mkldnn_prepacked",
    "onednn",
    "onnx",
    "prim",
    "prims",
    "profiler",
    "quantization",
    "quantized",
    "quantized_decomposed",
    "rngprims",
    "sparse",
    "static_runtime",
    "symm_mem",
];

/// An operator's name, without the overload.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OperatorName {
    pub namespace: Box<str>,
    pub name: Box<str>,
}

/// The statements that make one operator, in the order in which CPython would run them.
#[derive(Debug, Default)]
pub struct Operator {
    pub definitions: Vec<DefinitionId>,
    pub registrations: Vec<DefinitionId>,
}

/// All operators of an index.
#[derive(Debug, Default)]
pub struct Operators {
    named: BTreeMap<OperatorName, Operator>,
    /// By namespace, what makes operators under names that only running code knows.
    computed: BTreeMap<Box<str>, Operator>,
    /// Definitions of which not even the namespace can be read off.
    unreadable: Vec<DefinitionId>,
    defined_by: HashMap<DefinitionId, Vec<OperatorName>>,
    /// The variables that hold what `custom_op` made, by the definition that binds them.
    objects: HashMap<DefinitionId, Vec<Variable>>,
    /// The calls of methods, of a library or of torch itself, that are about operators of known names.
    entries: HashSet<(Variable, DefinitionId)>,
    /// Variables that stand for a part of `torch.ops`: `torch.ops.mylib`.
    spaces: HashMap<Variable, String>,
    /// The places that bind them.
    space_bindings: HashSet<(DefinitionId, u32)>,
}

impl OperatorName {
    /// Whether it is in a namespace that torch itself fills.
    pub fn is_of_torch(&self) -> bool {
        OF_TORCH.binary_search(&&*self.namespace).is_ok()
    }
}

impl Operators {
    pub fn operator(&self, operator: &OperatorName) -> Option<&Operator> {
        self.named.get(operator)
    }

    pub fn operators_of(&self, namespace: &str) -> impl Iterator<Item = &OperatorName> {
        self.named.keys().filter(move |operator| &*operator.namespace == namespace)
    }

    /// What makes operators of a namespace under names that cannot be read off.
    pub fn computed(&self, namespace: &str) -> Option<&Operator> {
        self.computed.get(namespace)
    }

    /// Definitions of operators of which nothing can be read off.
    pub fn unreadable(&self) -> &[DefinitionId] {
        &self.unreadable
    }

    pub fn defined_by(&self, definition: DefinitionId) -> &[OperatorName] {
        self.defined_by.get(&definition).map_or(&[], Vec::as_slice)
    }

    /// The variables that hold the operators that a definition makes, and nothing else: what changes such a variable
    /// changes the operator.
    pub fn objects(&self, definition: DefinitionId) -> &[Variable] {
        self.objects.get(&definition).map_or(&[], Vec::as_slice)
    }

    /// Whether a statement changes a library, or torch, by operators of known names, and comes when one of them is needed.
    pub fn is_entry(&self, changed: Variable, statement: DefinitionId) -> bool {
        self.entries.contains(&(changed, statement))
    }

    /// The part of `torch.ops` for which a variable stands.
    pub fn space(&self, variable: Variable) -> Option<&str> {
        self.spaces.get(&variable).map(String::as_str)
    }

    /// Whether a reference only gives a name to a part of `torch.ops`.
    pub fn is_space_binding(&self, definition: DefinitionId, reference: &Reference) -> bool {
        self.space_bindings.contains(&(definition, reference.range.start))
    }
}

pub(super) fn of(index: &Index) -> Operators {
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

/// Whether a file mentions a part of `torch.library` or `torch.ops`, under whatever name, or an operator. A package that
/// stays an import registers its operators itself.
fn may_use(index: &Index, file: FileId) -> bool {
    let indexed = index.file(file);
    let facts = &indexed.facts;
    let is_part = |symbol: &str| {
        let last = symbol.rsplit('.').next().expect("split yields at least one part");
        matches!(last, "Library" | "library" | "ops" | "define" | "impl")
            || DEFINING.contains(&last)
            || REGISTERING.contains(&last)
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
        for reference in statement.references.iter().filter(|reference| reference.role == Role::Value) {
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
        for (call, callee) in eager_calls(statement) {
            if !self.library_function(definition, callee).is_some_and(|name| name == "Library") {
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
        for (call, callee) in eager_calls(statement) {
            let given = arguments(statement, call, callee);
            if let Some(function) = self.library_function(definition, callee) {
                let Some(effect) = effect_of(&function) else { continue };
                let named = self.named_by_function(definition, given);
                // Upstream may import torch where it can: the call is one of a method of the module's own variable.
                if let (Named::Operator(operator), Some((torch, _))) =
                    (&named, self.called_variable(definition, callee))
                {
                    self.entries.push((torch, definition, operator.clone()));
                }
                if effect == Effect::Makes {
                    self.note_object(definition, statement, call);
                }
                self.note(definition, effect, named);
            } else if let Some((library, effect)) = self.library_method(definition, callee) {
                let namespace = self.libraries[&library].clone();
                let named = self.named_in(definition, namespace, given[0]);
                if let Named::Operator(operator) = &named {
                    self.entries.push((library, definition, operator.clone()));
                }
                self.note(definition, effect, named);
            }
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
    ) -> Option<(Variable, &'reference [crate::facts::Attribute])> {
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

fn effect_of(function: &str) -> Option<Effect> {
    match function {
        "define" => Some(Effect::Defines),
        _ if DEFINING.contains(&function) => Some(Effect::Makes),
        _ if REGISTERING.contains(&function) => Some(Effect::Registers),
        _ => None,
    }
}

/// `scale` of `scale.out`
fn without_overload(name: &str) -> &str {
    name.split('.').next().expect("split yields at least one part")
}

/// The calls that run with the statement, with the references of what they call.
fn eager_calls(statement: &Statement) -> impl Iterator<Item = (&Call, &Reference)> {
    statement.calls.iter().filter_map(|call| {
        let references = &statement.references;
        let place = references.partition_point(|reference| reference.range.start < call.callee);
        let callee = references.get(place).filter(|callee| callee.range.start == call.callee)?;
        (callee.evaluation == Evaluation::Eager).then_some((call, callee))
    })
}

/// An argument, as far as the facts know it.
#[derive(Clone, Copy, Debug)]
enum Argument<'facts> {
    Key(&'facts KeyString),
    Reference(&'facts Reference),
}

/// The first two arguments of a call of which the facts know anything. What is put together of several parts counts by
/// its whole where that is a key, else by its first part.
fn arguments<'facts>(statement: &'facts Statement, call: &Call, callee: &Reference) -> [Option<Argument<'facts>>; 2] {
    let start = callee.path.last().map_or(callee.range.end, |attribute| attribute.end);
    let is_inside = |place: u32| place >= start && place < call.range.end;
    let is_positional = |key: &&KeyString| matches!(key.place, KeyPlace::Positional | KeyPlace::Schema);
    let keys = statement.keys.iter().filter(is_positional).filter(|key| is_inside(key.range.start));
    let references = statement.references.iter().filter(|reference| is_inside(reference.range.start));
    let keys = keys.map(|key| (key.range.start, key.range.end, Argument::Key(key)));
    let references = references.map(|reference| {
        let end = reference.path.last().map_or(reference.range.end, |attribute| attribute.end);
        (reference.range.start, end, Argument::Reference(reference))
    });
    let mut arguments: Vec<_> = keys.chain(references).collect();
    // A key stands before the references that it is made of.
    arguments.sort_by_key(|(start, ..)| *start);
    let Some((_, end, first)) = arguments.first().copied() else { return [None, None] };
    let second = arguments.iter().find(|(start, ..)| *start >= end).map(|(.., argument)| *argument);
    [Some(first), second]
}

/// The variable that the binding directly before `place` binds: `variable = <place>`.
fn variable_before(definition: DefinitionId, statement: &Statement, place: u32) -> Option<Variable> {
    let next = statement.bindings.partition_point(|binding| binding.range.start < place);
    let binding = statement.bindings[..next].last()?;
    let is_between = |reference: &Reference| {
        (binding.range.end..place).contains(&reference.range.start)
            && reference.evaluation != Evaluation::EagerAnnotation
    };
    let is_direct = !statement.references.iter().any(is_between);
    is_direct.then_some(Variable { file: definition.file, name: binding.name })
}

impl Index {
    /// What a reference names in torch: `torch.library.custom_op`.
    fn path_in_torch(&self, definition: DefinitionId, reference: &Reference) -> Option<String> {
        let facts = &self.file(definition.file).facts;
        let resolution = self.resolve(definition, reference);
        let base = match resolution.entity {
            Entity::External(external) if external.package() == TORCH => external.object_path(),
            Entity::Variable(variable) => self.named_in_torch(variable)?,
            _ => return None,
        };
        let rest = reference.path[resolution.consumed..].iter().map(|attribute| facts.name(attribute.name));
        Some(std::iter::once(base.as_str()).chain(rest).collect::<Vec<_>>().join("."))
    }

    /// What one of the binders of a variable gives it of torch.
    ///
    /// ```python
    /// try:
    ///     from torch.library import custom_op
    /// except ImportError:
    ///     custom_op = None
    /// ```
    pub(crate) fn named_in_torch(&self, variable: Variable) -> Option<String> {
        let file = self.file(variable.file);
        file.binders(self.variable_name(variable)).find_map(|(position, binding)| {
            let statement = file.statement(position);
            let external = match binding.kind {
                BindingKind::Import { import, name } => {
                    self.resolve_imported(variable.file, &statement.imports[import as usize], name)
                }
                BindingKind::Assignment => {
                    let definition = DefinitionId { file: variable.file, statement: position };
                    return self.assigned_from_torch(definition, binding.range.end, variable);
                }
                _ => return None,
            };
            match external {
                Entity::External(external) if external.package() == TORCH => Some(external.object_path()),
                _ => None,
            }
        })
    }

    /// `custom_op = torch.library.custom_op`, in which the name ends at `end`.
    fn assigned_from_torch(&self, definition: DefinitionId, end: u32, variable: Variable) -> Option<String> {
        let statement = self.statement(definition);
        let facts = &self.file(definition.file).facts;
        let next = statement.references.partition_point(|found| found.range.start < end);
        let value = statement.references.get(next).filter(|value| value.role == Role::Value)?;
        let is_bound = variable_before(definition, statement, value.range.start) == Some(variable);
        let resolution = self.resolve(definition, value);
        let rest = value.path[resolution.consumed..].iter().map(|attribute| facts.name(attribute.name));
        match resolution.entity {
            Entity::External(external) if is_bound && external.package() == TORCH => {
                Some(std::iter::once(&*external.object_path()).chain(rest).collect::<Vec<_>>().join("."))
            }
            _ => None,
        }
    }
}
