//! What static analysis cannot see in detectron2 and in the code bases that are built on it.
//!
//! Each rule states a property of the code that makes leaving something out or replacing it right. None is about a
//! single model.

use netquarry_sdk::shim::{Replacement, RepoShim, Rule, Tables};
use netquarry_sdk::{ConfigurationError, NoConfiguration, Plugin, Refusal};

/// The packages that follow detectron2's conventions.
const PACKAGES: [&str; 3] = ["detectron2", "mask2former", "mask2former_video"];

const REGISTERS: &str = "returns the class or function as it is; the registry that it fills serves configuration files, which \
     name parts of a model";
const CONFIGURES: &str = "lets a constructor take a configuration in the place of its arguments, which the class's \
     `from_config` reads; called with its arguments it only passes them on";
const READS_CONFIGURATION: &str = "reads the constructor's arguments from the configuration of a whole model; a block is given \
     its arguments";
const DRAWS: &str = "draws what the model saw into the training log";

const REPLACED: [(&str, &str, &str); 5] = [
    (
        "fvcore.nn.weight_init",
        include_str!("../replacements/weight_init.py"),
        "the two initialisations of fvcore that detectron2 uses, by the same calls of torch",
    ),
    (
        "fvcore.nn.distributed.differentiable_all_reduce",
        include_str!("../replacements/differentiable_all_reduce.py"),
        "the sum over all processes, with a gradient; nothing where there is one process",
    ),
    (
        "fvcore.nn.smooth_l1_loss",
        include_str!("../replacements/smooth_l1_loss.py"),
        "the same loss: quadratic below beta, linear above, L1 where beta vanishes",
    ),
    (
        "fvcore.nn.giou_loss",
        include_str!("../replacements/giou_loss.py"),
        "torchvision has the same function, without the refusal of what is no box; it computes half precision in single",
    ),
    (
        "fvcore.nn.sigmoid_focal_loss_jit",
        include_str!("../replacements/sigmoid_focal_loss_jit.py"),
        "torchvision has the same function; it refuses an `alpha` above one",
    ),
];

pub struct Detectron2;

impl Plugin for Detectron2 {
    const NAME: &str = "shim-detectron2";
    const VERSION: &str = env!("CARGO_PKG_VERSION");
    const DOCUMENTATION: &str = include_str!("../README.md");
    const EXAMPLES: &[(&str, &str)] = &[("registered-backbone", include_str!("../examples/registered-backbone.json"))];
    type Configuration = NoConfiguration;

    fn new(_: NoConfiguration) -> Result<Self, ConfigurationError> {
        Ok(Self)
    }
}

impl RepoShim for Detectron2 {
    fn tables(&self) -> Result<Tables, Refusal> {
        let rule = |path: String, why: &str| Rule { path, why: why.to_owned() };
        let mut dropped_decorators = vec![rule("detectron2.config.config.configurable".to_owned(), CONFIGURES)];
        let mut dropped_members = Vec::new();
        for package in PACKAGES {
            dropped_decorators.push(rule(format!("{package}.*_REGISTRY.register"), REGISTERS));
            for method in ["from_config", "_init_box_head", "_init_mask_head", "_init_keypoint_head"] {
                dropped_members.push(rule(format!("{package}.*.{method}"), READS_CONFIGURATION));
            }
            dropped_members.push(rule(format!("{package}.*.visualize_training"), DRAWS));
        }
        Ok(Tables {
            packages: PACKAGES.map(str::to_owned).to_vec(),
            dropped_decorators,
            dropped_members,
            replaced_definitions: REPLACED.map(Replacement::from).to_vec(),
            ..Tables::default()
        })
    }
}

netquarry_sdk::export!(Detectron2 as RepoShim);
