//! What a block is for, in words of our own: nothing here is upstream's text but names.

use netquarry_sdk::emit::{Block, Category, Parameter, ParameterKind, Tensor};
use serde::{Deserialize, Serialize};

/// An entry of `spec.json`, with the keys of the paper's listing 2.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Candidate {
    pub(crate) class: String,
    pub(crate) forward_args: Vec<String>,
    pub(crate) summary: String,
}

impl Candidate {
    pub(crate) fn of(block: &Block) -> Self {
        Self {
            class: block.name.clone(),
            forward_args: block.forward_parameters.iter().map(starred_name).collect(),
            summary: summary(block),
        }
    }
}

/// `an attention block`.
pub(crate) fn kind(category: Category) -> &'static str {
    match category {
        Category::Attention => "an attention block",
        Category::Convolution => "a convolutional block",
        Category::TransformerBlock => "a transformer block",
        Category::Pooling => "a pooling layer",
        Category::Normalisation => "a normalisation layer",
        Category::Loss => "a loss",
        Category::Architecture => "a whole architecture",
        Category::Utility => "a module",
    }
}

/// `*args` of a parameter that takes several.
pub(crate) fn starred_name(parameter: &Parameter) -> String {
    let stars = match parameter.kind {
        ParameterKind::Variadic => "*",
        ParameterKind::VariadicKeyword => "**",
        ParameterKind::PositionalOnly | ParameterKind::PositionalOrKeyword | ParameterKind::KeywordOnly => "",
    };
    format!("{stars}{}", parameter.name)
}

/// What went in and came out, with the arguments that made it so; none where no forward pass was seen.
///
/// `x float32[2, 64, 32, 32] -> float32[2, 64], with in_features=64`
pub(crate) fn shapes(block: &Block) -> Option<String> {
    if block.inputs.is_empty() || block.outputs.is_empty() {
        return None;
    }
    let inputs: Vec<String> = block.inputs.iter().map(|input| format!("{} {}", input.name, shape(input))).collect();
    let outputs: Vec<String> = block.outputs.iter().map(shape).collect();
    let plain = block.constructor_arguments.iter().filter(|(_, value)| is_plain(value));
    let arguments: Vec<String> = plain.map(|(name, value)| format!("{name}={value}")).collect();
    let with = if arguments.is_empty() { String::new() } else { format!(", with {}", arguments.join(", ")) };
    Some(format!("{} -> {}{with}", inputs.join(", "), outputs.join(", ")))
}

/// One sentence.
fn summary(block: &Block) -> String {
    let kind = kind(block.category);
    let mut parts = vec![match block.parameter_count {
        Some(0) => format!("{kind} without parameters"),
        Some(count) => format!("{kind} with {count} parameters"),
        None => kind.to_owned(),
    }];
    parts.extend(shapes(block));
    let constructor: Vec<String> = block.constructor_parameters.iter().map(starred_name).collect();
    if !constructor.is_empty() {
        parts.push(format!("configured by {}", constructor.join(", ")));
    }
    if !block.requirements.is_empty() {
        parts.push(format!("needs {}", block.requirements.join(", ")));
    }
    let sentence = parts.join("; ");
    format!("{}{}.", sentence[..1].to_uppercase(), &sentence[1..])
}

fn shape(tensor: &Tensor) -> String {
    format!("{}{:?}", tensor.dtype, tensor.shape)
}

/// A number or a truth value. Anything else may be an expression that upstream wrote.
fn is_plain(value: &str) -> bool {
    matches!(value, "True" | "False" | "None") || value.parse::<f64>().is_ok_and(f64::is_finite)
}
