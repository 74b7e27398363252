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

mod calls;
mod gather;

use std::collections::{BTreeMap, HashMap, HashSet};

use super::{DefinitionId, Index, Variable};
use crate::facts::{BindingKind, Reference, Role};
use crate::resolve::Entity;
use calls::variable_before;

pub(super) use gather::of;

const TORCH: &str = "torch";

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
    /// Definitions of which not even the namespace can be read off, or which take place when a function is called.
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

    /// Statements that define operators of which nothing can be read off.
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
