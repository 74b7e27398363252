//! What static analysis cannot see in timm.
//!
//! Each rule states a property of timm's code that makes leaving something out right. None is about a single model.

use netquarry_sdk::shim::{RepoShim, Rule, Tables};
use netquarry_sdk::{ConfigurationError, NoConfiguration, Plugin, Refusal};

/// The functions by which timm registers, as decorators and in calls, and why a block does without. All of them return what
/// they are given.
const REGISTERING: [(&str, &str); 3] = [
    (
        "timm.models._registry.register_model",
        "returns the function as it is; the registry that it fills serves create_model and list_models, which find \
         models by name: a block that calls them finds none in its bundle",
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

const DEPRECATIONS: (&str, &str) = (
    "timm.models._registry.register_model_deprecations",
    "gives models of a module their old names in the registry that serves create_model and list_models, which find models \
     by name",
);

pub struct Timm;

impl Plugin for Timm {
    const NAME: &str = "shim-timm";
    const VERSION: &str = env!("CARGO_PKG_VERSION");
    const DOCUMENTATION: &str = include_str!("../README.md");
    const EXAMPLES: &[(&str, &str)] = &[("registered-model", include_str!("../examples/registered-model.json"))];
    type Configuration = NoConfiguration;

    fn new(_: NoConfiguration) -> Result<Self, ConfigurationError> {
        Ok(Self)
    }
}

impl RepoShim for Timm {
    fn tables(&self) -> Result<Tables, Refusal> {
        Ok(Tables {
            packages: vec!["timm".to_owned()],
            dropped_decorators: REGISTERING.map(Rule::from).to_vec(),
            dropped_calls: REGISTERING.into_iter().chain([DEPRECATIONS]).map(Rule::from).collect(),
            ..Tables::default()
        })
    }
}

netquarry_sdk::export!(Timm as RepoShim);
