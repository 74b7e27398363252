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
    pub(crate) invariants: Option<Invariants>,
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

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Invariants {
    pub(crate) batch: Option<Batch>,
}

/// What other numbers of samples came to.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Batch {
    /// A sample's output is the same whatever else is in its batch; null where that is not known.
    pub(crate) independent: Option<bool>,
}
