//! What static analysis cannot see in torch_geometric.
//!
//! Each rule states a property of the code that makes leaving something out or replacing it right. None is about a
//! single model.

use netquarry_sdk::shim::{Replacement, RepoShim, Rule, Tables};
use netquarry_sdk::{ConfigurationError, NoConfiguration, Plugin, Refusal};

/// Decorators of GraphGym, which finds modules by name.
const DROPPED_DECORATORS: [(&str, &str); 1] = [(
    "torch_geometric.graphgym.register.register*",
    "returns what it is given; the registry that it fills serves experiments that name their modules in a file",
)];

const TEMPLATES: &str = "writes the propagation of a class out from template files of the package, for speed; upstream \
     itself goes on with the general propagation, which computes the same, where that fails";

pub struct TorchGeometric;

impl Plugin for TorchGeometric {
    const NAME: &str = "shim-torch-geometric";
    const VERSION: &str = env!("CARGO_PKG_VERSION");
    const DOCUMENTATION: &str = include_str!("../README.md");
    const EXAMPLES: &[(&str, &str)] = &[("registered-layer", include_str!("../examples/registered-layer.json"))];
    type Configuration = NoConfiguration;

    fn new(_: NoConfiguration) -> Result<Self, ConfigurationError> {
        Ok(Self)
    }
}

impl RepoShim for TorchGeometric {
    fn tables(&self) -> Result<Tables, Refusal> {
        let templates = Replacement::from((
            "torch_geometric.nn.conv.message_passing.MessagePassing._set_jittable_templates",
            include_str!("../replacements/set_jittable_templates.py"),
            TEMPLATES,
        ));
        Ok(Tables {
            packages: vec!["torch_geometric".to_owned()],
            dropped_decorators: DROPPED_DECORATORS.map(Rule::from).to_vec(),
            replaced_definitions: vec![templates],
            ..Tables::default()
        })
    }
}

netquarry_sdk::export!(TorchGeometric as RepoShim);
