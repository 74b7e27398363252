//! What static analysis cannot see in torchvision.
//!
//! Each rule states a property of torchvision's code that makes leaving something out or replacing it right. None is
//! about a single model.

use netquarry_sdk::shim::{
    Answer, CodeIndex, OperatorNamespace, Question, Replacement, RepoShim, Resolved, Rule, Tables,
};
use netquarry_sdk::{ConfigurationError, NoConfiguration, Plugin, Refusal};

/// The function by which a functional transform finds the kernel for its input.
const GET_KERNEL: &str = "torchvision.transforms.v2.functional._utils._get_kernel";

/// The decorators that register kernels; their first argument is the functional.
const KERNEL_REGISTRIES: [&str; 2] = [
    "torchvision.transforms.v2.functional._utils._register_five_ten_crop_kernel_internal",
    "torchvision.transforms.v2.functional._utils._register_kernel_internal",
];

/// Upstream decides when it is imported, too, and `torch.jit.script` can compile both.
const HAS_OPS: &str = "\
def _has_ops():
    return False


if hasattr(__import__(\"torch\").ops.torchvision, \"nms\"):

    def _has_ops():
        return True
";

pub struct Torchvision;

impl Plugin for Torchvision {
    const NAME: &str = "shim-torchvision";
    const VERSION: &str = env!("CARGO_PKG_VERSION");
    const DOCUMENTATION: &str = include_str!("../README.md");
    const EXAMPLES: &[(&str, &str)] = &[("usage-counter", include_str!("../examples/usage-counter.json"))];
    type Configuration = NoConfiguration;

    fn new(_: NoConfiguration) -> Result<Self, ConfigurationError> {
        Ok(Self)
    }
}

impl RepoShim for Torchvision {
    fn tables(&self) -> Result<Tables, Refusal> {
        let registered = Rule::from((
            "torchvision.models._api.register_model",
            "returns the function as it is; the registry that it fills serves get_model and list_models, which find models \
             by name, and no block",
        ));
        let counted = Rule::from((
            "torchvision.utils._log_api_usage_once",
            "tells torch's usage logger, which does nothing unless somebody installs one, that a name of torchvision is used",
        ));
        let has_ops = Replacement::from((
            "torchvision.extension._has_ops",
            HAS_OPS,
            "upstream loads a library that lies beside its own source; the operators that this library registers are \
             there when torchvision was imported",
        ));
        let operators = OperatorNamespace {
            namespace: "torchvision".to_owned(),
            import_statement: "import torchvision".to_owned(),
            why: "the operators are compiled; importing torchvision registers them".to_owned(),
        };
        Ok(Tables {
            packages: vec!["torchvision".to_owned()],
            dropped_decorators: vec![registered],
            dropped_calls: vec![counted],
            replaced_definitions: vec![has_ops],
            operator_namespaces: vec![operators],
            dynamic_names: vec![GET_KERNEL.to_owned()],
            ..Tables::default()
        })
    }

    /// A functional asks for its own kernels: `_get_kernel(resize, type(inpt))` stands in `resize`. Where the
    /// functional is a parameter (in `Transform._call_kernel`), whoever names the functional brings its kernels.
    fn answer(&self, question: &Question, index: &dyn CodeIndex) -> Result<Answer, Refusal> {
        if question.name != GET_KERNEL {
            return Ok(Answer::Unknown(format!("{} is no rule of this shim", question.name)));
        }
        let functional = question.referrer.rsplit('.').next().unwrap_or(&question.referrer);
        if first_argument(&question.expression) != Some(functional) {
            let why =
                "the functional is a parameter here; its kernels come with the definition that names it".to_owned();
            return Ok(Answer::Definitions(Resolved { paths: Vec::new(), why }));
        }
        let kernels = KERNEL_REGISTRIES.iter().flat_map(|registry| index.registered(registry, &question.referrer));
        let mut paths: Vec<String> = kernels.collect();
        paths.sort();
        paths.dedup();
        let why = format!("the kernels that are registered for {functional}, by the type of the input");
        Ok(Answer::Definitions(Resolved { paths, why }))
    }
}

/// The text of the first argument of a call, where it is a name.
fn first_argument(call: &str) -> Option<&str> {
    let arguments = call.split_once('(')?.1;
    let first = arguments.split([',', ')']).next()?.trim();
    first.chars().all(|character| character.is_alphanumeric() || character == '_').then_some(first)
}

netquarry_sdk::export!(Torchvision as RepoShim);

#[cfg(test)]
mod tests {
    use netquarry_sdk::configured;
    use netquarry_sdk::shim::Definition;

    use super::*;

    /// An index in which two decorators register a kernel for `resize` each.
    struct Registered;

    impl CodeIndex for Registered {
        fn find(&self, _: &str) -> Option<Definition> {
            None
        }

        fn source(&self, _: &str) -> Option<String> {
            None
        }

        fn references(&self, _: &str) -> Vec<String> {
            Vec::new()
        }

        fn registered(&self, registry: &str, key: &str) -> Vec<String> {
            let is_kernel = key == "torchvision.transforms.v2.functional._geometry.resize";
            let kernel = format!("kernel_of_{}", registry.rsplit('.').next().expect("a path has parts"));
            if is_kernel { vec![kernel] } else { Vec::new() }
        }
    }

    fn answer(name: &str, referrer: &str, expression: &str) -> Answer {
        let question = Question {
            name: name.to_owned(),
            referrer: referrer.to_owned(),
            expression: expression.to_owned(),
            literals: Vec::new(),
        };
        let shim = configured::<Torchvision>("{}").expect("there is nothing to configure");
        shim.answer(&question, &Registered).expect("it has no reason to fail")
    }

    fn paths(answer: Answer) -> Vec<String> {
        match answer {
            Answer::Definitions(resolved) => resolved.paths,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_functional_brings_its_kernels() {
        let resize = "torchvision.transforms.v2.functional._geometry.resize";
        let found = paths(answer(GET_KERNEL, resize, "_get_kernel(resize, type(inpt))"));
        assert_eq!(found, ["kernel_of__register_five_ten_crop_kernel_internal", "kernel_of__register_kernel_internal"]);
    }

    #[test]
    fn a_parameter_brings_none() {
        let transform = "torchvision.transforms.v2._transform.Transform";
        let expression = "_get_kernel(functional, type(inpt), allow_passthrough=True)";
        assert!(paths(answer(GET_KERNEL, transform, expression)).is_empty());
    }

    #[test]
    fn other_names_are_not_known() {
        assert!(matches!(answer("torchvision.models.get_model", "a.b", "get_model('x')"), Answer::Unknown(_)));
    }
}
