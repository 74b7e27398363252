//! What validation saw of a block beside the levels that it passed: what an instance is made of, and how what it gives
//! follows from what it takes.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An instance, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Structure {
    /// Parameters and buffers, module after module.
    pub state: Vec<StateEntry>,
    /// Modules before those in them; the first is the instance itself, whose path is empty.
    pub submodules: Vec<Submodule>,
    /// What runs in a forward pass in evaluation mode, in order; empty where it was not exported.
    pub calls: Vec<LayerCall>,
}

/// A parameter or a buffer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StateEntry {
    /// `layers.0.weight`
    pub name: String,
    pub kind: StateKind,
    /// Unknown where the block gives it one that depends on its first input, which it has not met.
    pub shape: Option<Vec<u64>>,
    /// As torch writes it, without the prefix: `float32`.
    pub dtype: String,
    /// It asks for a gradient.
    pub trained: bool,
    /// The name above under which the same tensor stands.
    pub same_as: Option<String>,
}

/// What an entry of a state is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StateKind {
    Parameter,
    Buffer,
    /// A buffer that is not in the state dictionary.
    TransientBuffer,
}

/// A module in an instance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Submodule {
    /// `layers.0`
    pub path: String,
    /// `torch.nn.Conv2d`; the bare name of a class that is not torch's.
    pub class_name: String,
    /// What a layer of torch's was given and is not the default, as Python expressions by parameter.
    pub options: BTreeMap<String, String>,
}

/// A layer of torch's or an operator that runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LayerCall {
    /// `torch.nn.Conv2d`, `aten.add.Tensor`; `input` and `output` for what comes in and goes out.
    pub operation: String,
    /// Of a layer, where it is in the instance; of an input, its name.
    pub path: Option<String>,
    /// What feeds it, as places in the list of all calls.
    pub inputs: Vec<u32>,
    /// Of what comes out, where that is one tensor.
    pub shape: Option<Vec<u64>>,
}

/// What forward passes gave whose inputs were other than the recorded ones, in evaluation mode.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Trials {
    /// With inputs of other sizes.
    pub sizes: Vec<SizeTrial>,
    /// Whether the outputs for the first of a batch stay the same when the others change; unknown where the outputs are none
    /// of a batch.
    pub batch_independent: Option<bool>,
    /// With the model and all floating-point inputs of another type.
    pub dtypes: Vec<DtypeTrial>,
    /// Whether it runs on torch's device `meta`, on which no tensor has values and none of the processor's can be mixed in:
    /// a block that does makes all that it needs where its inputs are.
    pub other_device: Option<bool>,
}

/// One pass with inputs of other sizes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SizeTrial {
    pub varied: Varied,
    /// What was changed; everything else was as recorded.
    pub axes: Vec<AxisSize>,
    /// The shapes of the first outputs; none where the pass raised.
    pub outputs: Option<Vec<Vec<u64>>>,
}

/// Which sizes were changed together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Varied {
    /// The first axis of all inputs that are as long in it as the first input is.
    Batch,
    /// All axes but the first two of all inputs that have four or more.
    Grid,
    /// One axis of one input.
    Axis,
    /// All of those axes that are of one size.
    Axes,
}

/// The size of one axis of one input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AxisSize {
    /// As among the recorded inputs.
    pub input: String,
    pub axis: u32,
    pub size: u64,
}

/// One pass with another floating-point type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DtypeTrial {
    pub dtype: String,
    /// The types of the first outputs; none where it raised.
    pub outputs: Option<Vec<String>>,
}

impl Trials {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
