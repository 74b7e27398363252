//! What the emitter reads off the whole record, beyond the fields of a block.

use std::collections::BTreeMap;

use serde::Deserialize;

/// Fields that a later version adds are passed over, and those that an earlier one lacks say nothing.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Record {
    pub(crate) tainted: bool,
    /// The rule that took the class for a block, and why.
    pub(crate) discovered_by: String,
    pub(crate) evidence: Evidence,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Evidence {
    /// Python expressions by parameter of `forward`.
    pub(crate) forward_arguments: BTreeMap<String, String>,
    pub(crate) flops: Option<u64>,
    pub(crate) challenge: Option<Challenge>,
    pub(crate) trials: Option<Trials>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Challenge {
    pub(crate) training: Training,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Training {
    pub(crate) raises: bool,
}

/// What forward passes came to whose inputs had other sizes.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Trials {
    pub(crate) sizes: Vec<SizeTrial>,
    /// A sample's output is the same whatever else is in its batch; none where that is not known.
    pub(crate) batch_independent: Option<bool>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct SizeTrial {
    varied: String,
    axes: Vec<AxisSize>,
    /// The shapes of the first outputs; none where the pass raised.
    outputs: Option<Vec<Vec<u64>>>,
}

#[derive(Debug, Deserialize)]
struct AxisSize {
    size: u64,
}

impl Trials {
    /// Whether the first output had as many samples as the inputs, whatever number was tried; none where no other was.
    pub(crate) fn follow_batch(&self) -> Option<bool> {
        let mut tried = self.sizes.iter().filter(|trial| trial.varied == "batch").peekable();
        tried.peek()?;
        Some(tried.all(SizeTrial::gave_as_many))
    }
}

impl SizeTrial {
    fn gave_as_many(&self) -> bool {
        let given = self.axes.first().map(|axis| axis.size);
        let first = self.outputs.as_ref().and_then(|outputs| outputs.first());
        given.is_some() && first.and_then(|shape| shape.first().copied()) == given
    }
}
