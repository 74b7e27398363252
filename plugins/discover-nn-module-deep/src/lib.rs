//! Classes that reach `nn.Module` through any chain of bases, have a `forward` of their own or by inheritance, and are not
//! abstract.

use netquarry_sdk::discovery::{ClassDescription, DiscoveryRule, Proposal};
use netquarry_sdk::{ConfigurationError, Plugin};
use nn_module::ancestry::{Forward, Lineage, abstract_methods, forward, lineage};
use nn_module::category::categorise;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Configuration {
    /// Also take classes that stand under `if`, `try` or another statement of their module.
    pub conditional: bool,
    /// Also take classes that inherit `forward` and define none themselves.
    pub inherited_forward: bool,
}

impl Default for Configuration {
    fn default() -> Self {
        Self { conditional: true, inherited_forward: true }
    }
}

pub struct NnModuleDeep {
    configuration: Configuration,
}

impl Plugin for NnModuleDeep {
    const NAME: &str = "discover-nn-module-deep";
    const VERSION: &str = env!("CARGO_PKG_VERSION");
    const DOCUMENTATION: &str = include_str!("../README.md");
    type Configuration = Configuration;

    fn new(configuration: Configuration) -> Result<Self, ConfigurationError> {
        Ok(Self { configuration })
    }
}

impl DiscoveryRule for NnModuleDeep {
    fn discover(&self, classes: &[ClassDescription]) -> Result<Vec<Proposal>, String> {
        Ok((0..).zip(classes).filter_map(|(index, class)| self.propose(index, class)).collect())
    }
}

impl NnModuleDeep {
    fn propose(&self, index: u32, class: &ClassDescription) -> Option<Proposal> {
        if class.conditional && !self.configuration.conditional {
            return None;
        }
        let lineage = match lineage(class)? {
            Lineage::Direct => "inherits nn.Module".to_owned(),
            Lineage::Through(ancestor) => format!("reaches nn.Module through {ancestor}"),
        };
        let forward = match forward(class)? {
            Forward::Own => "defines forward".to_owned(),
            Forward::Inherited(_) if !self.configuration.inherited_forward => return None,
            Forward::Inherited(ancestor) => format!("has the forward of {ancestor}"),
        };
        if !abstract_methods(class).is_empty() {
            return None;
        }
        let (category, cue) = categorise(class);
        Some(Proposal { index, category, reason: format!("{lineage} and {forward}; {cue}") })
    }
}

netquarry_sdk::export!(NnModuleDeep as DiscoveryRule);
