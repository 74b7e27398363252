//! Classes that reach `nn.Module` through any chain of bases, have a `forward` of their own or by inheritance, and are
//! not abstract.

use netquarry_sdk::discovery::{ClassDescription, DiscoveryRule, Proposal};
use netquarry_sdk::{ConfigurationError, Plugin, Refusal};
use nn_module::ancestry::{Forward, Lineage, abstract_methods, forward, is_nn_module_path, lineage};
use nn_module::category::categorise;
use schemars::JsonSchema;
use serde::Deserialize;

/// Bases that many repositories take from packages that a corpus seldom holds.
const EXTERNAL_MODULES: [&str; 7] = [
    "lightning.pytorch.LightningModule",
    "mmcv.runner.BaseModule",
    "mmengine.model.BaseModule",
    "mmengine.model.BaseModel",
    "pytorch_lightning.LightningModule",
    "transformers.PreTrainedModel",
    "transformers.modeling_utils.PreTrainedModel",
];

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Configuration {
    /// Also take classes that stand under `if`, `try` or another statement of their module.
    pub conditional: bool,
    /// Also take classes that inherit `forward` and define none themselves.
    pub inherited_forward: bool,
    /// Dotted paths of classes outside of the corpus that are modules; those of `torch.nn` are known.
    pub external_modules: Vec<String>,
}

impl Default for Configuration {
    fn default() -> Self {
        let external_modules = EXTERNAL_MODULES.map(str::to_owned).to_vec();
        Self { conditional: true, inherited_forward: true, external_modules }
    }
}

pub struct NnModuleDeep {
    configuration: Configuration,
}

impl Plugin for NnModuleDeep {
    const NAME: &str = "discover-nn-module-deep";
    const VERSION: &str = env!("CARGO_PKG_VERSION");
    const DOCUMENTATION: &str = include_str!("../README.md");
    const EXAMPLES: &[(&str, &str)] = &[("inherited-modules", include_str!("../examples/inherited-modules.json"))];
    type Configuration = Configuration;

    fn new(configuration: Configuration) -> Result<Self, ConfigurationError> {
        Ok(Self { configuration })
    }
}

impl DiscoveryRule for NnModuleDeep {
    fn discover(&self, classes: &[ClassDescription]) -> Result<Vec<Proposal>, Refusal> {
        Ok((0..).zip(classes).filter_map(|(index, class)| self.propose(index, class)).collect())
    }
}

impl NnModuleDeep {
    fn propose(&self, index: u32, class: &ClassDescription) -> Option<Proposal> {
        if class.conditional && !self.configuration.conditional {
            return None;
        }
        let lineage = match lineage(class, &self.configuration.external_modules)? {
            Lineage::Direct => "inherits nn.Module".to_owned(),
            Lineage::Through(ancestor) if is_nn_module_path(ancestor) => {
                "reaches nn.Module through its bases".to_owned()
            }
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

#[cfg(test)]
mod tests {
    use netquarry_sdk::configured;
    use netquarry_sdk::discovery::{Ancestor, BaseClass, Method};

    use super::*;

    fn class(ancestor: &str, methods: &[&str]) -> ClassDescription {
        let method = |name: &&str| Method {
            name: (*name).to_owned(),
            parameters: vec!["self".to_owned()],
            decorators: Vec::new(),
            stub: false,
        };
        ClassDescription {
            name: "Block".to_owned(),
            path: "package.module.Block".to_owned(),
            module: "package.module".to_owned(),
            source: "test".to_owned(),
            file: "package/module.py".to_owned(),
            bases: vec![BaseClass { written: Some("Base".to_owned()), resolved: Some(ancestor.to_owned()) }],
            metaclass: None,
            ancestors: vec![Ancestor { path: ancestor.to_owned(), external: true, methods: Vec::new() }],
            methods: methods.iter().map(method).collect(),
            decorators: Vec::new(),
            attributes: Vec::new(),
            references: Vec::new(),
            summary: None,
            conditional: true,
            subclassed: false,
        }
    }

    fn reason(configuration: &str, class: ClassDescription) -> Option<String> {
        let rule = configured::<NnModuleDeep>(configuration).expect("the configuration is right");
        let proposals = rule.discover(&[class]).expect("it has no reason to fail");
        proposals.into_iter().next().map(|proposal| proposal.reason)
    }

    #[test]
    fn the_reason_says_how_the_class_came_by_module_and_forward() {
        let inherited = reason("{}", class("torch.nn.Sequential", &[])).expect("it is a block");
        assert!(
            inherited.starts_with(
                "reaches nn.Module through torch.nn.Sequential and has the forward of torch.nn.Sequential; "
            )
        );
        let own = reason("{}", class("mmengine.model.BaseModule", &["forward"])).expect("it is a block");
        assert!(own.starts_with("reaches nn.Module through mmengine.model.BaseModule and defines forward; "));
    }

    #[test]
    fn the_configuration_narrows_the_rule() {
        assert_eq!(reason(r#"{"inherited_forward": false}"#, class("torch.nn.Sequential", &[])), None);
        assert_eq!(reason(r#"{"conditional": false}"#, class("torch.nn.Sequential", &[])), None);
        assert_eq!(reason(r#"{"external_modules": []}"#, class("mmengine.model.BaseModule", &["forward"])), None);
        assert_eq!(reason("{}", class("mmengine.model.BaseModule", &[])), None);
    }
}
