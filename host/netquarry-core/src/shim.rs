//! The declarative part of a `repo-shim`: rules of one code base, which the host applies natively.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The tables of one shim. All paths are dotted and absolute, as CPython would name the object where it is defined.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ShimTables {
    /// Name and version of the plugin, filled in by the host.
    pub plugin: String,
    /// The import packages that the rules are about: `["timm"]`.
    pub packages: Vec<String>,
    /// Decorators that register or document and change nothing that the block's behaviour needs.
    pub dropped_decorators: Vec<Rule>,
    /// Calls of these functions, as statements, are ballast (a logger's set-up, an API usage counter).
    pub dropped_calls: Vec<Rule>,
    /// Definitions and methods of which nothing reads the annotations while a block runs: an annotation that names
    /// something of the corpus is kept as a string, and does not bring what it names. The path is that of what is
    /// annotated.
    pub postponed_annotations: Vec<Rule>,
    pub registries: Vec<RegistryRule>,
    /// Dictionaries at module level that give classes something by their names. A block needs the entries whose key is part
    /// of the name of a class of its closure, and those whose key a definition of the closure holds as a string.
    pub named_tables: Vec<Rule>,
    /// Methods and attributes that a class carries for other purposes than its behaviour as a block, by the path of the
    /// class and the name.
    pub dropped_members: Vec<Rule>,
    /// Base classes of which a block needs nothing.
    pub dropped_bases: Vec<Rule>,
    pub replaced_definitions: Vec<Replacement>,
    pub operator_namespaces: Vec<OperatorNamespace>,
    /// Names that only the plugin's function can answer about: dotted paths, one `*` matches anything.
    pub dynamic: Vec<String>,
    pub arguments: Vec<BlockArguments>,
    pub upstream_states: Vec<UpstreamState>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rule {
    /// The dotted path of what the rule is about; one `*` matches anything.
    pub path: String,
    pub why: String,
}

/// Objects that map keys to classes and functions, how they are filled, and where keys to them stand.
///
/// An entry joins a closure only with its registry, and only where a definition of the closure holds its key. A decorator
/// or call that makes an entry does not bring the registry: without it, it is left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RegistryRule {
    /// Dotted paths of classes: a global that is bound to a call of one of them is a registry.
    pub classes: Vec<String>,
    /// Patterns of further registries: containers, or functions that register.
    pub objects: Vec<String>,
    /// Methods that make an entry, as decorators and in calls: `register_module`. `__setitem__` stands for
    /// `TABLE["key"] = x`, and the empty name for a call of the object itself.
    pub methods: Vec<String>,
    /// The keyword of such a method that takes the key, beside positional strings. An entry without one has the name of
    /// what is registered for its key.
    pub key_argument: String,
    /// Where configurations name entries: `type` in `dict(type="BN")` and `{"type": "BN"}`.
    pub key_fields: Vec<String>,
    /// What ends the name of a scope before a key: `.` in `mmdet.ResNet`. The rest is looked for as well.
    pub scope_separator: String,
    pub why: String,
}

/// A definition that is replaced by a small faithful equivalent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Replacement {
    /// Of a global name of the corpus, of a method or attribute of a class (the path of the class and its name), or of
    /// something outside of the corpus that is imported from its module.
    pub path: String,
    /// Python statements that bind the same name. Free names mean what they mean in the module of the definition.
    pub by: String,
    pub why: String,
}

/// `torch.ops.<namespace>` exists only once `import` has run. Operators that the corpus defines itself come without it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OperatorNamespace {
    pub namespace: String,
    /// An import statement: `import torchvision`.
    pub import: String,
    pub why: String,
}

/// How to construct and run a block, where that cannot be guessed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BlockArguments {
    /// The dotted path of the class; one `*` matches anything.
    pub path: String,
    /// Python expressions by parameter name; `torch` and `nn` are at hand.
    pub constructor: std::collections::BTreeMap<String, String>,
    /// Python expressions by parameter name.
    pub forward: std::collections::BTreeMap<String, String>,
}

/// A state that the code base's own programs set, which a replacement takes for given: upstream's class is compared in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UpstreamState {
    /// The dotted path of the class; one `*` matches anything.
    pub path: String,
    /// Python statements, executed before upstream's class is called.
    pub statements: String,
    pub why: String,
}
