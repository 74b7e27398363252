//! Whether a block can be an image classifier, and what must stand around it, by what was seen of it.

use netquarry_sdk::emit::{Block, Category, Outcome, ParameterKind};
use serde::{Deserialize, Serialize};

use crate::Configuration;
use crate::arguments::Arguments;
use crate::evidence::{Record, Trials};
use crate::model;
use crate::python;
use crate::refusal::Refusal;

/// How a block becomes a classifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// It makes a vector of an image.
    Network,
    /// It makes features of an image that have places.
    Backbone,
    /// It makes features of features.
    Block,
}

/// What stands around a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) rule: Rule,
    /// One for each tensor that features of images stand for.
    pub(crate) stems: Vec<Stem>,
    /// The Python text of the arguments of `forward`.
    pub(crate) arguments: String,
    pub(crate) head: Head,
}

/// What makes a tensor of the shape that the block was seen to take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stem {
    /// Without the batch.
    pub(crate) shape: Vec<u64>,
    pub(crate) channels: u64,
    pub(crate) channels_last: bool,
    /// Rows and columns of the places that are left when the channels are taken away.
    pub(crate) grid: [u64; 2],
}

/// What makes classes of the block's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Head {
    Vector { features: u64 },
    Maps { channels: u64, axis: usize },
}

impl Plan {
    pub(crate) fn of(block: &Block, record: &Record, configuration: &Configuration) -> Result<Self, Refusal> {
        check_validation(block, record, configuration)?;
        let arguments = forward_arguments(block, record)?;
        let output = output_shape(block)?;
        let head = Head::of(output)?;
        check_batch(record, &arguments, output, head)?;
        check_size(block, record, &arguments, configuration)?;
        check_text(block, configuration)?;
        let rule = rule(block, &arguments, output, head);
        let stems = arguments.slots.iter().map(|shape| Stem::of(&shape[1..])).collect();
        Ok(Self { rule, stems, arguments: arguments.text, head })
    }
}

impl Stem {
    fn of(shape: &[u64]) -> Self {
        let channels_last = is_channels_last(shape);
        let (channels, places) = match (shape, channels_last) {
            ([places @ .., channels], true) | ([channels, places @ ..], false) => (*channels, places),
            ([], _) => (1, shape),
        };
        Self { shape: shape.to_vec(), channels, channels_last, grid: grid(places) }
    }
}

impl Head {
    fn of(output: &[u64]) -> Result<Self, Refusal> {
        match output {
            [] | [_] => Err(Refusal::NoFeatures),
            [_, features] => Ok(Self::Vector { features: *features }),
            [_, shape @ ..] => {
                let axis = if is_channels_last(shape) { shape.len() } else { 1 };
                Ok(Self::Maps { channels: output[axis], axis })
            }
        }
    }

    fn features(self) -> u64 {
        match self {
            Self::Vector { features } => features,
            Self::Maps { channels, .. } => channels,
        }
    }
}

/// Whether the last axis of a sample is that of its channels: in a sequence of tokens, and in a map of which the two axes
/// before the last one are equal and so look like its sides, which the last two do not.
fn is_channels_last(shape: &[u64]) -> bool {
    match shape {
        [_, _] => true,
        [.., height, width, channels] => height == width && width != channels,
        _ => false,
    }
}

/// So many rows and columns as there are places. A map keeps its own, of a line of places the most even ones are taken, and
/// of more than two axes the last is that of the columns.
fn grid(places: &[u64]) -> [u64; 2] {
    match places {
        [] => [1, 1],
        [length] => {
            let divides = |rows: &u64| length.is_multiple_of(*rows);
            let rows = (1..=length.isqrt()).rev().find(divides).unwrap_or(1);
            [rows, length / rows]
        }
        [rows @ .., columns] => [rows.iter().product(), *columns],
    }
}

/// A block that takes an image and has nothing to learn, or makes no more channels of it, changes images and does not see
/// what is in them; that is the work of a stem.
fn rule(block: &Block, arguments: &Arguments, output: &[u64], head: Head) -> Rule {
    let takes_image = |channels: u64| matches!(channels, 1 | 3) && head.features() > channels;
    match arguments.slots.as_slice() {
        [image]
            if image.len() == 4 && takes_image(image[1]) && block.parameter_count.is_some_and(|count| count > 0) =>
        {
            if output.len() == 2 {
                Rule::Network
            } else {
                Rule::Backbone
            }
        }
        _ => Rule::Block,
    }
}

fn check_validation(block: &Block, record: &Record, configuration: &Configuration) -> Result<(), Refusal> {
    let outcome_of = |level: &str| block.outcomes.iter().find(|(name, _)| name == level).map(|(_, outcome)| *outcome);
    let raises = record.evidence.challenge.as_ref().is_some_and(|challenge| challenge.training.raises);
    if block.level < configuration.minimum_level || outcome_of("forward") != Some(Outcome::Passed) {
        Err(Refusal::BelowLevel)
    } else if record.tainted {
        Err(Refusal::Tainted)
    } else if block.category == Category::Loss {
        Err(Refusal::Loss)
    } else if record.discovered_by.ends_with("prepares data") {
        Err(Refusal::PreparesData)
    } else if outcome_of("backward") == Some(Outcome::Failed) {
        Err(Refusal::NoGradient)
    } else if raises {
        Err(Refusal::RaisesInTraining)
    } else {
        Ok(())
    }
}

/// They are given by position up to the first parameter that has none, and by name behind it, as in validation.
fn forward_arguments(block: &Block, record: &Record) -> Result<Arguments, Refusal> {
    let given = &record.evidence.forward_arguments;
    let mut arguments = Arguments::default();
    if block.forward_parameters.is_empty() {
        // `forward` is torch's own, whose parameters are not in the record.
        for (name, expression) in given {
            arguments.add((given.len() > 1).then_some(name), expression)?;
        }
        return if arguments.slots.is_empty() { Err(Refusal::NoTensorInput) } else { Ok(arguments) };
    }
    let mut is_positional = true;
    let mut found = 0;
    for parameter in &block.forward_parameters {
        let Some(expression) = given.get(&parameter.name) else {
            is_positional = false;
            continue;
        };
        let by_name = match parameter.kind {
            ParameterKind::PositionalOrKeyword => !is_positional,
            ParameterKind::KeywordOnly => true,
            ParameterKind::PositionalOnly | ParameterKind::Variadic => false,
            ParameterKind::VariadicKeyword => return Err(Refusal::ArgumentNotUnderstood),
        };
        arguments.add(by_name.then_some(parameter.name.as_str()), expression)?;
        found += 1;
    }
    if found < given.len() {
        Err(Refusal::ArgumentNotUnderstood)
    } else if arguments.slots.is_empty() {
        Err(Refusal::NoTensorInput)
    } else {
        Ok(arguments)
    }
}

/// Of the first floating-point tensor of the output.
fn output_shape(block: &Block) -> Result<&[u64], Refusal> {
    let is_floating = |dtype: &str| dtype.starts_with("float") || dtype.starts_with("bfloat");
    let output = block.outputs.iter().find(|output| is_floating(&output.dtype)).ok_or(Refusal::NoFeatures)?;
    Ok(&output.shape)
}

/// The first axis of all tensors is that of the batch, where that was tried or nothing speaks against it.
fn check_batch(record: &Record, arguments: &Arguments, output: &[u64], head: Head) -> Result<(), Refusal> {
    let trials = record.evidence.trials.as_ref();
    if trials.and_then(Trials::follow_batch) == Some(false) {
        return Err(Refusal::BatchDependent);
    }
    let samples = output[0];
    let sizes = arguments.slots.iter().filter_map(|shape| shape.first()).chain(&arguments.made);
    let agrees = samples > 1 && sizes.into_iter().all(|size| *size == samples);
    match trials.and_then(|trials| trials.batch_independent) {
        Some(false) => Err(Refusal::BatchDependent),
        _ if !agrees => Err(Refusal::BatchAxisUnknown),
        Some(true) => Ok(()),
        None if is_ambiguous(arguments, output, head) => Err(Refusal::BatchAxisUnknown),
        None if arguments.has_integer(samples) => Err(Refusal::ArgumentMayDependOnBatch),
        None => Ok(()),
    }
}

/// A list of as many tensors as there are samples, of which the output has one axis more, may be a batch itself; and so many
/// features as samples, which no input has, may be the other samples.
fn is_ambiguous(arguments: &Arguments, output: &[u64], head: Head) -> bool {
    let samples = output[0];
    let rank = arguments.slots.iter().map(Vec::len).max().unwrap_or(0);
    let has_size = |shape: &Vec<u64>| shape[1..].contains(&samples);
    (arguments.sequences.contains(&samples) && output.len() > rank)
        || (head.features() == samples && !arguments.slots.iter().any(has_size))
}

fn check_size(
    block: &Block,
    record: &Record,
    arguments: &Arguments,
    configuration: &Configuration,
) -> Result<(), Refusal> {
    let elements = |shape: &Vec<u64>| shape[1..].iter().product::<u64>();
    let is_large = arguments.slots.iter().map(elements).sum::<u64>() > configuration.maximum_input_elements
        || block.parameter_count.is_some_and(|count| count > configuration.maximum_parameters)
        || record.evidence.flops.is_some_and(|flops| flops > configuration.maximum_flops);
    if is_large { Err(Refusal::TooLarge) } else { Ok(()) }
}

/// A block may be named `Net` itself, where its text does not look for that name once the model has it; `super(Net, self)`
/// would find the model.
fn check_text(block: &Block, configuration: &Configuration) -> Result<(), Refusal> {
    let code = block.code.as_deref().ok_or(Refusal::BelowLevel)?;
    let expressions: String = block.constructor_arguments.iter().map(|(_, text)| format!("{text}\n")).collect();
    let uses = python::occurrences(code, "Net");
    let is_its_own = uses == 1 && block.name == "Net" && python::defines_class(code, "Net");
    let takes_name = (uses > 0 && !is_its_own)
        || python::occurrences(&expressions, "Net") > 0
        || python::occurrences(code, "supported_hyperparameters") > 0
        || code.contains("_netquarry")
        || model::BUILTINS.iter().any(|name| python::binds(code, name));
    let has = |requirement: &String| {
        let name = distribution(requirement);
        configuration.distributions.iter().any(|each| distribution(each) == name)
    };
    if takes_name {
        Err(Refusal::NameTaken)
    } else if !block.requirements.iter().all(has) {
        Err(Refusal::Requirement)
    } else {
        Ok(())
    }
}

/// The name in a requirement, as PEP 503 normalises it.
fn distribution(requirement: &str) -> String {
    let is_of_name = |character: char| character.is_ascii_alphanumeric() || "._-".contains(character);
    let end = requirement.find(|character| !is_of_name(character)).unwrap_or(requirement.len());
    let parts: Vec<&str> = requirement[..end].split(['.', '_', '-']).filter(|part| !part.is_empty()).collect();
    parts.join("-").to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stem(shape: &[u64]) -> (u64, [u64; 2], bool) {
        let stem = Stem::of(shape);
        (stem.channels, stem.grid, stem.channels_last)
    }

    #[test]
    fn a_stem_has_as_many_channels_and_places_as_its_shape() {
        assert_eq!(stem(&[64, 32, 32]), (64, [32, 32], false));
        assert_eq!(stem(&[8, 8, 64]), (64, [8, 8], true));
        assert_eq!(stem(&[64, 32, 64]), (64, [32, 64], false));
        assert_eq!(stem(&[196, 64]), (64, [14, 14], true));
        assert_eq!(stem(&[65, 64]), (64, [5, 13], true));
        assert_eq!(stem(&[17, 64]), (64, [1, 17], true));
        assert_eq!(stem(&[64]), (64, [1, 1], false));
        assert_eq!(stem(&[]), (1, [1, 1], false));
        assert_eq!(stem(&[3, 8, 32, 32]), (3, [256, 32], false));
        assert_eq!(stem(&[8, 8, 8, 64]), (64, [64, 8], true));
        assert_eq!(stem(&[2, 8, 8, 96]), (96, [16, 8], true));
        assert_eq!(stem(&[4, 4, 4]), (4, [4, 4], false));
    }

    #[test]
    fn distributions_are_compared_by_their_normal_names() {
        assert_eq!(distribution("Scikit_learn[x]>=1.2; python_version > '3'"), "scikit-learn");
    }
}
