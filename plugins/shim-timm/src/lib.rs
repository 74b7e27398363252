//! What static analysis cannot see in timm.
//!
//! Each rule states a property of timm's code that makes leaving something out right. None is about a single model.

use netquarry_sdk::shim::{RepoShim, Rule, Tables};
use netquarry_sdk::{ConfigurationError, NoConfiguration, Plugin};

/// Where timm defines the decorators, and why a block does without them. All of them return what they are given.
const DROPPED_DECORATORS: [(&str, &str); 3] = [
    (
        "timm.models._registry.register_model",
        "returns the function as it is; the registry that it fills serves create_model and list_models, which find \
         models by name, and no block",
    ),
    (
        "timm.layers._fx.register_notrace_module",
        "returns the class as it is; the set that it fills names the classes of the installed timm to timm's own feature \
         extraction, which treats them as leaves of an fx graph, and cannot name the class of a bundle to it",
    ),
    (
        "timm.layers._fx.register_notrace_function",
        "returns the function as it is; the set that it fills names the functions of the installed timm to timm's own \
         feature extraction, which treats them as leaves of an fx graph, and cannot name the function of a bundle to it",
    ),
];

pub struct Timm;

impl Plugin for Timm {
    const NAME: &str = "shim-timm";
    const VERSION: &str = env!("CARGO_PKG_VERSION");
    const DOCUMENTATION: &str = include_str!("../README.md");
    type Configuration = NoConfiguration;

    fn new(_: NoConfiguration) -> Result<Self, ConfigurationError> {
        Ok(Self)
    }
}

impl RepoShim for Timm {
    fn tables(&self) -> Result<Tables, String> {
        Ok(Tables {
            packages: vec!["timm".to_owned()],
            dropped_decorators: DROPPED_DECORATORS.map(Rule::from).to_vec(),
            ..Tables::default()
        })
    }
}

netquarry_sdk::export!(Timm as RepoShim);
