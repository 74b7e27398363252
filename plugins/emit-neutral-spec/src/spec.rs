//! The format `netquarry-neutral-spec/2`.

use std::collections::BTreeMap;

use netquarry_sdk::emit::{Block, Dependency, Outcome, Parameter, ParameterKind, Tensor};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::Serialize;

use crate::manifest::{self, Manifest, SizeTrial};
use crate::shapes::{self, OutputAxis, VariedAxes};
use crate::summary;
use crate::value::{Type, Value};

pub const FORMAT: &str = "netquarry-neutral-spec/2";

/// What an implementation of one block has to do, and where the block is from; nothing of how its authors wrote it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "netquarry-neutral-spec/2")]
pub struct Spec {
    /// `netquarry-neutral-spec/2`
    pub format: String,
    /// Source and dotted path.
    pub id: String,
    pub name: String,
    pub category: String,
    /// A sentence or two, made from the rest.
    pub summary: String,
    pub constructor: Constructor,
    pub forward: Forward,
    /// Null where no instance was made.
    pub instance: Option<Instance>,
    pub invariants: Invariants,
    pub dependencies: Dependencies,
    pub validation: Validation,
    pub provenance: Provenance,
    /// An SPDX expression over everything that the block consists of; null where unknown.
    pub license: Option<String>,
}

/// What the constructor takes, and with what an instance was made of which all the rest is told.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Constructor {
    pub parameters: Vec<SpecParameter>,
    pub example: BTreeMap<String, Value>,
}

/// What a forward pass takes and gives in evaluation mode.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Forward {
    pub parameters: Vec<SpecParameter>,
    /// What was passed by parameter; the tensors in it are told below.
    pub example: BTreeMap<String, Value>,
    pub inputs: Vec<SpecTensor>,
    pub outputs: Vec<SpecOutput>,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SpecParameter {
    pub name: String,
    /// `positional_only`, `positional_or_keyword`, `variadic`, `keyword_only` or `variadic_keyword`.
    pub kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<Type>,
    /// Whether a call has to give it.
    pub required: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SpecTensor {
    /// The name of a parameter, with the place in it where that is a container: `features.0`.
    pub name: String,
    pub shape: Vec<u64>,
    /// As torch writes it, without the prefix: `float32`.
    pub dtype: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SpecOutput {
    /// Its place in the output: `0`, `logits`, `output` where there is one only.
    pub name: String,
    pub dtype: String,
    pub axes: Vec<OutputAxis>,
}

/// What an instance is made of.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Instance {
    /// Elements of all parameters.
    pub parameters: Option<u64>,
    /// Operations of a forward pass with the inputs above: two for each product and sum.
    pub flops: Option<u64>,
    pub state: Vec<SpecState>,
    /// Modules before those in them; the first is the instance itself.
    pub submodules: Vec<SpecSubmodule>,
    /// What runs in a forward pass in evaluation mode, in order; null where it could not be exported.
    pub layers: Option<Vec<SpecLayer>>,
}

/// A parameter or a buffer.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SpecState {
    pub name: String,
    /// `parameter`, `buffer`, or `transient_buffer` for one that is not in the state dictionary.
    pub kind: String,
    /// Null where it depends on the first input, which the instance has not met.
    pub shape: Option<Vec<u64>>,
    pub dtype: String,
    pub trained: bool,
    /// The entry above that is the same tensor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_as: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SpecSubmodule {
    pub path: String,
    /// `torch.nn.Conv2d`; the bare name of a class that is not torch's.
    pub class: String,
    /// What a layer of torch's was given and is not the default.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, Value>,
}

/// A layer of torch's or an operator that runs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SpecLayer {
    /// `torch.nn.Conv2d`, `aten.add.Tensor`, `input`, `output`
    pub operation: String,
    /// Of a layer, its path in the instance; of an input, its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What feeds it, as places in the list.
    pub inputs: Vec<u32>,
    /// Of the tensor that comes out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<Vec<u64>>,
}

/// What was tried and held; null or empty where it was not tried.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Invariants {
    /// Sizes of inputs that were changed, beside those above.
    pub sizes: Vec<VariedAxes>,
    /// Whether the output for the first of a batch stays the same when the others change.
    pub batch_independent: Option<bool>,
    /// Whether two processes gave the same to the bit, with the same random numbers.
    pub deterministic: Option<bool>,
    pub training: Option<Training>,
    /// Of the parameters that ask for a gradient, how many there are and how many got one.
    pub gradient: Option<Gradient>,
    /// By the floating-point type of model and inputs: the types of what came out, null where it raised.
    pub dtypes: BTreeMap<String, Option<Vec<String>>>,
    /// Whether it makes all that it needs on the device of its inputs.
    pub other_device: Option<bool>,
}

/// What is different in training mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Training {
    pub raises: bool,
    pub output_differs: bool,
    pub state_changes: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Gradient {
    pub trained: u64,
    pub reached: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Dependencies {
    /// PEP 508.
    pub requirements: Vec<String>,
    /// The block itself first.
    pub definitions: Vec<SpecDefinition>,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SpecDefinition {
    /// Source and dotted path.
    pub id: String,
    /// The definition that needed it first.
    pub needed_by: Option<String>,
    /// `direct_import`, `qualified_name` or `heuristic`.
    pub confidence: Option<String>,
    pub license: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Validation {
    /// The highest level passed, 0 to 7.
    pub level: u8,
    pub levels: BTreeMap<String, String>,
    /// The class of the failure. Its message is left out: it may quote upstream's code.
    pub failure: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Provenance {
    pub source: String,
    /// `pypi`, `git` or `local`.
    pub kind: String,
    pub version: Option<String>,
    pub commit: Option<String>,
    pub path: String,
    /// 1-based, inclusive.
    pub lines: [u32; 2],
    pub sha1: String,
    pub swhid: String,
    /// SHA-256 of the bundle.
    pub bundle_sha256: Option<String>,
}

/// The schema of the specs as they are written: what is left out in some is not required.
pub fn schema() -> Schema {
    SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<Spec>()
}

impl Spec {
    /// # Errors
    ///
    /// The manifest's record is not of the form that this emitter knows.
    pub fn of(block: &Block) -> Result<Self, String> {
        let Manifest { evidence, structure } = Manifest::read(&block.manifest_record)?;
        let parameters = |parameters: &[Parameter]| parameters.iter().map(SpecParameter::of).collect();
        let example = block.constructor_arguments.iter().map(|(name, text)| (name.clone(), Value::of(text)));
        let passed = evidence.forward_arguments.iter().map(|(name, text)| (name.clone(), Value::of(text)));
        let trials = evidence.trials.clone().unwrap_or_default();
        Ok(Self {
            format: FORMAT.to_owned(),
            id: block.id.clone(),
            name: block.name.clone(),
            category: block.category.name().to_owned(),
            summary: summary::of(block),
            constructor: Constructor {
                parameters: parameters(&block.constructor_parameters),
                example: example.collect(),
            },
            forward: Forward {
                parameters: parameters(&block.forward_parameters),
                example: passed.collect(),
                inputs: block.inputs.iter().map(SpecTensor::of).collect(),
                outputs: outputs(block, &trials.sizes),
            },
            instance: structure.map(|structure| Instance::of(block, &evidence, structure)),
            invariants: Invariants::of(block, &evidence),
            dependencies: Dependencies::of(block),
            validation: Validation::of(block),
            provenance: Provenance::of(block),
            license: block.license.clone(),
        })
    }
}

fn outputs(block: &Block, trials: &[SizeTrial]) -> Vec<SpecOutput> {
    let output = |(place, output): (usize, &Tensor)| SpecOutput {
        name: output.name.clone(),
        dtype: output.dtype.clone(),
        axes: shapes::output_axes(&block.inputs, place, output, trials),
    };
    block.outputs.iter().enumerate().map(output).collect()
}

impl SpecParameter {
    fn of(parameter: &Parameter) -> Self {
        let (kind, is_variadic) = match parameter.kind {
            ParameterKind::PositionalOnly => ("positional_only", false),
            ParameterKind::PositionalOrKeyword => ("positional_or_keyword", false),
            ParameterKind::Variadic => ("variadic", true),
            ParameterKind::KeywordOnly => ("keyword_only", false),
            ParameterKind::VariadicKeyword => ("variadic_keyword", true),
        };
        Self {
            name: parameter.name.clone(),
            kind: kind.to_owned(),
            r#type: parameter.annotation.as_deref().and_then(Type::of),
            required: parameter.default.is_none() && !is_variadic,
            default: parameter.default.as_deref().map(Value::of),
        }
    }
}

impl SpecTensor {
    fn of(tensor: &Tensor) -> Self {
        let Tensor { name, shape, dtype } = tensor.clone();
        Self { name, shape, dtype }
    }
}

impl Instance {
    fn of(block: &Block, evidence: &manifest::Evidence, structure: manifest::Structure) -> Self {
        let layers: Vec<SpecLayer> = structure.calls.into_iter().map(SpecLayer::of).collect();
        Self {
            parameters: block.parameter_count,
            flops: evidence.flops,
            state: structure.state.into_iter().map(SpecState::of).collect(),
            submodules: structure.submodules.into_iter().map(SpecSubmodule::of).collect(),
            layers: (!layers.is_empty()).then_some(layers),
        }
    }
}

impl SpecState {
    fn of(entry: manifest::StateEntry) -> Self {
        let manifest::StateEntry { name, kind, shape, dtype, trained, same_as } = entry;
        Self { name, kind, shape, dtype, trained, same_as }
    }
}

impl SpecSubmodule {
    fn of(module: manifest::Submodule) -> Self {
        let options = module.options.into_iter().map(|(name, text)| (name, Value::of(&text)));
        Self { path: module.path, class: module.class_name, options: options.collect() }
    }
}

impl SpecLayer {
    fn of(call: manifest::LayerCall) -> Self {
        let manifest::LayerCall { operation, path, inputs, shape } = call;
        Self { operation, path, inputs, shape }
    }
}

impl Invariants {
    fn of(block: &Block, evidence: &manifest::Evidence) -> Self {
        let trials = evidence.trials.clone().unwrap_or_default();
        let training = |training: manifest::Training| Training {
            raises: training.raises,
            output_differs: training.output_differs,
            state_changes: training.state_changes,
        };
        Self {
            sizes: shapes::varied(&block.inputs, &trials.sizes),
            batch_independent: trials.batch_independent,
            deterministic: evidence.challenge.map(|challenge| challenge.deterministic),
            training: evidence.challenge.map(|challenge| training(challenge.training)),
            gradient: evidence
                .gradient
                .map(|gradient| Gradient { trained: gradient.trained, reached: gradient.reached }),
            dtypes: trials.dtypes.into_iter().map(|trial| (trial.dtype, trial.outputs)).collect(),
            other_device: trials.other_device,
        }
    }
}

impl Dependencies {
    fn of(block: &Block) -> Self {
        let definition = |dependency: &Dependency| SpecDefinition {
            id: dependency.definition.clone(),
            needed_by: dependency.needed_by.clone(),
            confidence: dependency.confidence.clone(),
            license: dependency.license.clone(),
        };
        Self { requirements: block.requirements.clone(), definitions: block.closure.iter().map(definition).collect() }
    }
}

impl Validation {
    fn of(block: &Block) -> Self {
        let name = |outcome: Outcome| match outcome {
            Outcome::Passed => "passed",
            Outcome::Failed => "failed",
            Outcome::Unknown => "unknown",
            Outcome::NotApplicable => "not_applicable",
        };
        let levels = block.outcomes.iter().map(|(level, outcome)| (level.clone(), name(*outcome).to_owned()));
        Self {
            level: block.level,
            levels: levels.collect(),
            failure: block.failure.as_ref().map(|failure| failure.class.clone()),
        }
    }
}

impl Provenance {
    fn of(block: &Block) -> Self {
        let provenance = block.provenance.clone();
        Self {
            source: provenance.source,
            kind: provenance.kind,
            version: provenance.version,
            commit: provenance.commit,
            path: provenance.file,
            lines: [provenance.first_line, provenance.last_line],
            sha1: provenance.sha1,
            swhid: provenance.swhid,
            bundle_sha256: block.sha256.clone(),
        }
    }
}
