//! Names that only a shim's function can answer about: the questions, the answers, and what a shim sees of the index.

use serde::{Deserialize, Serialize};

/// A use of a name that a shim's tables mark as dynamic.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DynamicQuestion {
    /// The dotted path of the name.
    pub name: String,
    /// The dotted path of the definition in which the use stands.
    pub referrer: String,
    /// The text of the use: of a call, with its arguments.
    pub expression: String,
    /// The string literals among the arguments, in order.
    pub literals: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DynamicAnswer {
    /// Dotted paths of the definitions that the use needs beside the name itself.
    Definitions { paths: Vec<String>, why: String },
    /// The shim does not know either, and says so in a sentence.
    Unknown { why: String },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum DefinitionKind {
    Class,
    Function,
    Assignment,
    Import,
    Other,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DefinitionSummary {
    /// The dotted path.
    pub path: String,
    pub kind: DefinitionKind,
    /// The name that the corpus gives to the source.
    pub source: String,
    /// Relative to the source's root, with forward slashes.
    pub file: String,
    /// 1-based, inclusive.
    pub lines: [u32; 2],
}

/// A read-only view of the index over all sources, for plugins.
pub trait CodeIndex: Send + Sync {
    /// The definition under a dotted path; re-exports are followed.
    fn find(&self, path: &str) -> Option<DefinitionSummary>;

    /// The text of the definition, decorators included.
    fn source(&self, path: &str) -> Option<String>;

    /// The dotted paths that the definition refers to, as far as they resolve; sorted.
    fn references(&self, path: &str) -> Vec<String>;

    /// The dotted paths of the definitions under a decorator that is a call of `registry` and has `key` among its
    /// arguments; sorted. `registry` is the dotted path of a function, or of an object and a method of it; `key` is a
    /// string, or the dotted path of what a name among the arguments resolves to: `@register("key")`,
    /// `@MODELS.register(name="key")`, `@register_kernel(resize, Tensor)`. A decorator without arguments means the
    /// definition's own name.
    fn registered(&self, registry: &str, key: &str) -> Vec<String>;
}
