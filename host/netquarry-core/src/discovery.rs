//! What a discovery rule sees of a class, and what it says.

use serde::{Deserialize, Serialize};

use crate::record::Category;

/// A class that is bound to a global name of its module, as the index knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassDescription {
    pub name: String,
    /// The dotted path, module and name: `timm.layers.drop.DropPath`.
    pub path: String,
    pub module: String,
    /// The name that the corpus gives to the source.
    pub source: String,
    /// Relative to the source's root, with forward slashes.
    pub file: String,
    pub bases: Vec<BaseClass>,
    /// As written: `ABCMeta`, `abc.ABCMeta`.
    pub metaclass: Option<String>,
    /// The ancestors, each once, in the order in which Python would look a method up, as far as that is known.
    pub ancestors: Vec<Ancestor>,
    pub methods: Vec<MethodDescription>,
    /// Dotted names as written, without the call; an empty string for any other expression.
    pub decorators: Vec<String>,
    /// Other names that the class body binds.
    pub attributes: Vec<String>,
    /// The dotted names that the class's text refers to, as written (`nn.Conv2d`, `F.softmax`), sorted, each once.
    pub references: Vec<String>,
    /// The first line of the docstring, without surrounding blanks.
    pub summary: Option<String>,
    /// It stands in a block that may not run: `if`, `try`, a loop.
    pub conditional: bool,
    /// Some other class of the corpus names it as a base.
    pub subclassed: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BaseClass {
    /// `nn.Module`; of a call or a subscript the part before the bracket; `None` for any other expression.
    pub written: Option<String>,
    /// The dotted path that the index resolves it to: `torch.nn.Module`.
    pub resolved: Option<String>,
}

/// A direct or indirect base class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ancestor {
    /// The dotted path, where it is defined; as far as it resolves for an external one (`torch.nn.Module`).
    pub path: String,
    /// No source of the corpus defines it: its methods are not known.
    pub external: bool,
    /// The methods that its own body defines.
    pub methods: Vec<MethodDescription>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MethodDescription {
    pub name: String,
    /// Names in order, `self` included, without `*` and `**`.
    pub parameters: Vec<String>,
    /// Dotted names as written, without the call; an empty string for any other expression.
    pub decorators: Vec<String>,
    /// The body only raises NotImplementedError, passes, or is a docstring or `...`.
    pub is_stub: bool,
}

/// A class that a discovery rule takes for a block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CandidateProposal {
    /// The position in the list of classes that the rule was given.
    pub index: usize,
    /// The dotted path of the class.
    pub qualified_name: String,
    pub category: Category,
    /// A sentence: what made it a block, and what put it into the category.
    pub reason: String,
}
