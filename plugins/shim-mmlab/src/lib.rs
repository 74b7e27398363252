//! What static analysis cannot see in the code of OpenMMLab.
//!
//! Each rule states a property of the common packages (mmengine, mmcv) or of how the others are written. None is about a
//! single model.

mod replacements;

use netquarry_sdk::shim::{
    Answer, CodeIndex, OperatorNamespace, Question, Registry, RepoShim, Resolved, Rule, Tables, UpstreamState,
};
use netquarry_sdk::{ConfigurationError, NoConfiguration, Plugin, Refusal};

/// The import packages that are written against mmengine's registry.
const PACKAGES: [&str; 7] = ["mmengine", "mmcv", "mmdet", "mmseg", "mmocr", "mmpose", "mmpretrain"];

/// Those of them whose programs have a scope of their own: what mmengine and mmcv register is in the root's.
const SCOPES: [&str; 5] = ["mmdet", "mmseg", "mmocr", "mmpose", "mmpretrain"];

/// Evaluates the name of an operator of its own module.
const BATCHED_NMS: &str = "mmcv.ops.nms.batched_nms";

pub struct Mmlab;

impl Plugin for Mmlab {
    const NAME: &str = "shim-mmlab";
    const VERSION: &str = env!("CARGO_PKG_VERSION");
    const DOCUMENTATION: &str = include_str!("../README.md");
    const EXAMPLES: &[(&str, &str)] = &[("built-by-key", include_str!("../examples/built-by-key.json"))];
    type Configuration = NoConfiguration;

    fn new(_: NoConfiguration) -> Result<Self, ConfigurationError> {
        Ok(Self)
    }
}

impl RepoShim for Mmlab {
    fn tables(&self) -> Result<Tables, Refusal> {
        Ok(Tables {
            packages: PACKAGES.map(str::to_owned).to_vec(),
            postponed_annotations: PACKAGES.map(unread_annotations).to_vec(),
            registries: vec![registries()],
            replaced_definitions: replacements::all(),
            operator_namespaces: vec![torchvision()],
            dynamic_names: vec![BATCHED_NMS.to_owned()],
            upstream_states: SCOPES.map(default_scope).to_vec(),
            ..Tables::default()
        })
    }

    fn answer(&self, question: &Question, _: &dyn CodeIndex) -> Result<Answer, Refusal> {
        if question.name != BATCHED_NMS {
            return Ok(Answer::Unknown(format!("{} is no rule of this shim", question.name)));
        }
        Ok(Answer::Definitions(Resolved {
            paths: ["mmcv.ops.nms.nms", "mmcv.ops.nms.soft_nms"].map(str::to_owned).to_vec(),
            why: "it evaluates `type` of its configuration as the name of an operator in its own module".to_owned(),
        }))
    }
}

fn registries() -> Registry {
    Registry {
        classes: vec!["mmengine.registry.registry.Registry".to_owned()],
        objects: Vec::new(),
        methods: ["register_module", "_register_module"].map(str::to_owned).to_vec(),
        key_argument: "name".to_owned(),
        key_fields: vec!["type".to_owned()],
        scope_separator: Some(".".to_owned()),
        why: "enters the class into a registry and returns it as it is; nothing in this file looks into the registry"
            .to_owned(),
    }
}

fn unread_annotations(package: &str) -> Rule {
    Rule {
        path: format!("{package}.*"),
        why: "configurations, not annotations, say how objects are made; nothing evaluates an annotation".to_owned(),
    }
}

fn default_scope(package: &str) -> UpstreamState {
    UpstreamState {
        path: format!("{package}.*"),
        statements: format!("from mmengine.registry import init_default_scope; init_default_scope({package:?})"),
        why:
            "every program of the package sets its default scope first, and a registry without one does not look into \
              those below it"
                .to_owned(),
    }
}

fn torchvision() -> OperatorNamespace {
    OperatorNamespace {
        namespace: "torchvision".to_owned(),
        import_statement: "import torchvision".to_owned(),
        why: "the operators are compiled; importing torchvision registers them".to_owned(),
    }
}

netquarry_sdk::export!(Mmlab as RepoShim);
