//! The paper's rule: a top-level class that inherits `nn.Module` directly, defines `forward` and is not abstract.

use netquarry_sdk::discovery::{ClassDescription, DiscoveryRule, Proposal};
use netquarry_sdk::{ConfigurationError, Plugin};
use nn_module::ancestry::{abstract_methods, is_nn_module};
use nn_module::category::categorise;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Configuration {
    /// Also take classes that stand under `if`, `try` or another statement of their module.
    pub conditional: bool,
}

pub struct NnModule {
    configuration: Configuration,
}

impl Plugin for NnModule {
    const NAME: &str = "discover-nn-module";
    const VERSION: &str = env!("CARGO_PKG_VERSION");
    const DOCUMENTATION: &str = include_str!("../README.md");
    type Configuration = Configuration;

    fn new(configuration: Configuration) -> Result<Self, ConfigurationError> {
        Ok(Self { configuration })
    }
}

impl DiscoveryRule for NnModule {
    fn discover(&self, classes: &[ClassDescription]) -> Result<Vec<Proposal>, String> {
        let candidates = (0..).zip(classes).filter(|(_, class)| self.is_block(class));
        Ok(candidates.map(|(index, class)| propose(index, class)).collect())
    }
}

impl NnModule {
    fn is_block(&self, class: &ClassDescription) -> bool {
        class.bases.iter().any(is_nn_module)
            && class.methods.iter().any(|method| method.name == "forward" && !method.stub)
            && abstract_methods(class).is_empty()
            && (self.configuration.conditional || !class.conditional)
    }
}

fn propose(index: u32, class: &ClassDescription) -> Proposal {
    let (category, cue) = categorise(class);
    Proposal { index, category, reason: format!("inherits nn.Module and defines forward; {cue}") }
}

netquarry_sdk::export!(NnModule as DiscoveryRule);
