//! The paper's rule: a top-level class that inherits `nn.Module` directly, defines `forward` and is not abstract.

use netquarry_sdk::discovery::{ClassDescription, DiscoveryRule, Proposal};
use netquarry_sdk::{ConfigurationError, Plugin, Refusal};
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
    const EXAMPLES: &[(&str, &str)] = &[("direct-modules", include_str!("../examples/direct-modules.json"))];
    type Configuration = Configuration;

    fn new(configuration: Configuration) -> Result<Self, ConfigurationError> {
        Ok(Self { configuration })
    }
}

impl DiscoveryRule for NnModule {
    fn discover(&self, classes: &[ClassDescription]) -> Result<Vec<Proposal>, Refusal> {
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

#[cfg(test)]
mod tests {
    use netquarry_sdk::configured;
    use netquarry_sdk::discovery::{Ancestor, BaseClass, Method};

    use super::*;

    fn class(base: &str) -> ClassDescription {
        let forward = Method {
            name: "forward".to_owned(),
            parameters: vec!["self".to_owned(), "x".to_owned()],
            decorators: Vec::new(),
            stub: false,
        };
        ClassDescription {
            name: "Block".to_owned(),
            path: "package.module.Block".to_owned(),
            module: "package.module".to_owned(),
            source: "test".to_owned(),
            file: "package/module.py".to_owned(),
            bases: vec![BaseClass { written: Some("Base".to_owned()), resolved: Some(base.to_owned()) }],
            metaclass: None,
            ancestors: vec![Ancestor { path: base.to_owned(), external: true, methods: Vec::new() }],
            methods: vec![forward],
            decorators: Vec::new(),
            attributes: Vec::new(),
            references: Vec::new(),
            summary: None,
            conditional: false,
            subclassed: false,
        }
    }

    fn is_block(configuration: &str, class: ClassDescription) -> bool {
        let rule = configured::<NnModule>(configuration).expect("the configuration is right");
        !rule.discover(&[class]).expect("it has no reason to fail").is_empty()
    }

    #[test]
    fn the_base_is_nn_module_itself() {
        assert!(is_block("{}", class("torch.nn.Module")));
        assert!(!is_block("{}", class("torch.nn.Sequential")));
    }

    #[test]
    fn forward_is_its_own_and_does_something() {
        let mut stub = class("torch.nn.Module");
        stub.methods[0].stub = true;
        assert!(!is_block("{}", stub));
        let mut without = class("torch.nn.Module");
        without.methods.clear();
        assert!(!is_block("{}", without));
    }

    #[test]
    fn an_abstract_class_is_no_block() {
        let mut class = class("torch.nn.Module");
        let build = Method {
            name: "build".to_owned(),
            decorators: vec!["abstractmethod".to_owned()],
            ..class.methods[0].clone()
        };
        class.methods.push(build);
        assert!(!is_block("{}", class));
    }

    #[test]
    fn conditional_classes_count_when_asked_for() {
        let mut class = class("torch.nn.Module");
        class.conditional = true;
        assert!(!is_block("{}", class.clone()));
        assert!(is_block(r#"{"conditional": true}"#, class));
    }
}
