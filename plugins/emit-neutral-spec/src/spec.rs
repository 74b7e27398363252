//! The format `netquarry-neutral-spec/1`.

use std::collections::BTreeMap;

use netquarry_sdk::emit::{Block, Dependency, Outcome, Parameter, ParameterKind, Tensor};
use serde::Serialize;

use crate::neutral;

pub const FORMAT: &str = "netquarry-neutral-spec/1";

/// One block.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Spec {
    pub format: &'static str,
    /// Source and dotted path.
    pub id: String,
    pub name: String,
    pub category: &'static str,
    pub constructor: Signature,
    pub forward: Signature,
    pub invariants: Invariants,
    pub dependencies: Dependencies,
    pub validation: Validation,
    pub provenance: Provenance,
    /// An SPDX expression over everything that the block consists of; null where unknown.
    pub license: Option<String>,
}

/// What a call takes, with a call of which it is known that it works.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Signature {
    pub parameters: Vec<SpecParameter>,
    /// Of the constructor: Python expressions by parameter.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub example: BTreeMap<String, String>,
    /// Of `forward`: what went in and what came out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<SpecTensor>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<SpecTensor>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SpecParameter {
    pub name: String,
    pub kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
    /// Whether a call may leave it out.
    pub required: bool,
    /// The default, where it is a literal or a name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SpecTensor {
    pub name: String,
    pub shape: Vec<u64>,
    pub dtype: String,
}

/// What held in the run that reached the highest level; null where no forward pass was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Invariants {
    pub parameters: Option<u64>,
    /// The first output has the shape of the first input.
    pub keeps_shape: Option<bool>,
    /// They have as many dimensions.
    pub keeps_rank: Option<bool>,
    /// Their first dimensions are equal.
    pub keeps_batch: Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Dependencies {
    /// PEP 508.
    pub requirements: Vec<String>,
    /// Source and dotted path of each definition, the block itself first.
    pub definitions: Vec<SpecDefinition>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SpecDefinition {
    pub id: String,
    /// The definition that needed it first.
    pub needed_by: Option<String>,
    pub confidence: Option<String>,
    pub license: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Validation {
    /// The highest level passed, 0 to 7.
    pub level: u8,
    pub levels: BTreeMap<String, &'static str>,
    /// The class of the failure. Its message is left out: it may quote upstream's code.
    pub failure: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Provenance {
    pub source: String,
    pub kind: String,
    pub version: Option<String>,
    pub commit: Option<String>,
    pub path: String,
    pub lines: [u32; 2],
    pub sha1: String,
    pub swhid: String,
    /// SHA-256 of the bundle.
    pub bundle_sha256: Option<String>,
}

impl Spec {
    pub fn of(block: &Block) -> Self {
        let parameters = |parameters: &[Parameter]| parameters.iter().map(SpecParameter::of).collect();
        let tensors = |tensors: &[Tensor]| tensors.iter().map(SpecTensor::of).collect();
        let constructor = Signature {
            parameters: parameters(&block.constructor_parameters),
            example: block.constructor_arguments.iter().cloned().collect(),
            inputs: Vec::new(),
            outputs: Vec::new(),
        };
        let forward = Signature {
            parameters: parameters(&block.forward_parameters),
            example: BTreeMap::new(),
            inputs: tensors(&block.inputs),
            outputs: tensors(&block.outputs),
        };
        Self {
            format: FORMAT,
            id: block.id.clone(),
            name: block.name.clone(),
            category: block.category.name(),
            constructor,
            forward,
            invariants: Invariants::of(block),
            dependencies: Dependencies::of(block),
            validation: Validation::of(block),
            provenance: Provenance::of(block),
            license: block.license.clone(),
        }
    }
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
            kind,
            r#type: parameter.annotation.as_deref().and_then(neutral::annotation).map(str::to_owned),
            required: parameter.default.is_none() && !is_variadic,
            default: parameter.default.as_deref().and_then(neutral::default).map(str::to_owned),
        }
    }
}

impl SpecTensor {
    fn of(tensor: &Tensor) -> Self {
        let Tensor { name, shape, dtype } = tensor.clone();
        Self { name, shape, dtype }
    }
}

impl Invariants {
    fn of(block: &Block) -> Self {
        let ends = block.inputs.first().zip(block.outputs.first());
        let holds =
            |property: fn(&[u64], &[u64]) -> bool| ends.map(|(input, output)| property(&input.shape, &output.shape));
        Self {
            parameters: block.parameter_count,
            keeps_shape: holds(|input, output| input == output),
            keeps_rank: holds(|input, output| input.len() == output.len()),
            keeps_batch: holds(|input, output| !input.is_empty() && input.first() == output.first()),
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
        Self {
            level: block.level,
            levels: block.outcomes.iter().map(|(level, outcome)| (level.clone(), name(*outcome))).collect(),
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
