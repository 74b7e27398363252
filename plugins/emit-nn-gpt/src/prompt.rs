//! What the model is told and asked. The labels are those of ChatPrep's prompts, the words are our own.

use netquarry_sdk::emit::{Block, Parameter};

use crate::design;

/// Longer defaults are no use in a prompt.
const LONGEST_DEFAULT: usize = 40;

/// The same for both kinds of examples: where a file is given, there is a method to fill in.
pub(crate) const SYSTEM: &str = "You write neural network modules for PyTorch. Answer with one Python code block and \
    no text around it. It holds a complete file: the imports, all helpers, and the nn.Module class that is asked for. \
    If you are given a file in which forward() does nothing but raise NotImplementedError, answer with that file, the \
    method implemented and all else as it was.";

/// Asks for a block by what it has to do.
pub(crate) fn task(block: &Block) -> String {
    let kind = design::kind(block.category);
    let name = &block.name;
    let mut lines = vec![
        format!("Task: Write {kind} for PyTorch as the class {name}."),
        format!(
            "Interface: {name}({}) with forward({}).",
            signature(&block.constructor_parameters),
            signature(&block.forward_parameters)
        ),
    ];
    lines.extend(design::shapes(block).map(|shapes| format!("Shapes: {shapes}.")));
    lines.extend(
        block
            .parameter_count
            .map(|count| format!("Resource limits: params ≤ {} in this configuration.", ceiling(count))),
    );
    let packages = if block.requirements.is_empty() { "torch".to_owned() } else { block.requirements.join(", ") };
    lines.push(format!("Constraints: import only {packages} and the standard library; no pretrained weights."));
    lines.push(format!(
        "Output contract: one Python code block that defines the complete nn.Module {name} and every helper it uses."
    ));
    lines.join("\n")
}

/// `dim, heads=8, *, bias=...`, without annotations.
fn signature(parameters: &[Parameter]) -> String {
    let written = |parameter: &Parameter| {
        let name = design::starred_name(parameter);
        match parameter.default.as_deref() {
            Some(default) if default.len() <= LONGEST_DEFAULT && !default.contains('\n') => format!("{name}={default}"),
            Some(_) => format!("{name}=..."),
            None => name,
        }
    };
    parameters.iter().map(written).collect::<Vec<_>>().join(", ")
}

/// The next of 1, 2, 5, 10, 20, 50, ...; 1,000 at least, so that it tells little of the answer.
fn ceiling(count: u64) -> u64 {
    let steps = (3..19).flat_map(|exponent| [1, 2, 5].map(|digit| digit * 10_u64.pow(exponent)));
    steps.into_iter().find(|step| *step >= count).unwrap_or(count)
}
