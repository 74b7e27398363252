//! A block in a sentence or two, made of facts and of no word of its authors'.

use netquarry_sdk::emit::{Block, Category, Tensor};

/// So many tensors are named.
const MOST_TENSORS: usize = 3;

pub(crate) fn of(block: &Block) -> String {
    let mut text = kind(block.category).to_owned();
    match block.parameter_count {
        Some(0) => text += " without parameters",
        Some(count) => text += &format!(" of {} parameters", grouped(count)),
        None => {}
    }
    if let (Some(inputs), Some(outputs)) = (tensors(&block.inputs), tensors(&block.outputs)) {
        text += &format!(" that takes {inputs} and gives {outputs}");
    }
    text += &format!(", from {} definitions", grouped(block.closure.len().max(1) as u64));
    if block.closure.len() <= 1 {
        text = text.replace("from 1 definitions", "from one definition");
    }
    text + "."
}

fn kind(category: Category) -> &'static str {
    match category {
        Category::Attention => "An attention layer",
        Category::Convolution => "A convolutional layer",
        Category::TransformerBlock => "A transformer block",
        Category::Pooling => "A pooling layer",
        Category::Normalisation => "A normalisation layer",
        Category::Loss => "A loss",
        Category::Architecture => "A network",
        Category::Utility => "A layer",
    }
}

/// `x [2, 64, 32, 32] and mask [2, 64]`; `None` where there are none.
fn tensors(tensors: &[Tensor]) -> Option<String> {
    let told: Vec<String> =
        tensors.iter().take(MOST_TENSORS).map(|tensor| format!("{} {:?}", tensor.name, tensor.shape)).collect();
    match (told.as_slice(), tensors.len().saturating_sub(MOST_TENSORS)) {
        ([], _) => None,
        ([one], 0) => Some(one.clone()),
        ([others @ .., last], 0) => Some(format!("{} and {last}", others.join(", "))),
        (named, further) => Some(format!("{} and {further} more", named.join(", "))),
    }
}

/// `1,234,567`
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy);
    groups.collect::<Vec<_>>().join(",")
}
