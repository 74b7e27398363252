//! What a spec needs of the manifest's record beside what the contract's own record has.

use std::collections::BTreeMap;

use serde::Deserialize;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Manifest {
    pub(crate) evidence: Evidence,
    pub(crate) structure: Option<Structure>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Evidence {
    /// Python expressions by parameter.
    pub(crate) forward_arguments: BTreeMap<String, String>,
    pub(crate) gradient: Option<Gradient>,
    pub(crate) flops: Option<u64>,
    pub(crate) challenge: Option<Challenge>,
    pub(crate) trials: Option<Trials>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Gradient {
    pub(crate) trained: u64,
    pub(crate) reached: u64,
}

#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Challenge {
    pub(crate) deterministic: bool,
    pub(crate) training: Training,
}

#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Training {
    pub(crate) raises: bool,
    pub(crate) output_differs: bool,
    pub(crate) state_changes: bool,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Trials {
    pub(crate) sizes: Vec<SizeTrial>,
    pub(crate) batch_independent: Option<bool>,
    pub(crate) dtypes: Vec<DtypeTrial>,
    pub(crate) other_device: Option<bool>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct SizeTrial {
    pub(crate) varied: String,
    pub(crate) axes: Vec<AxisSize>,
    /// The shapes of the first outputs; none where the pass raised.
    pub(crate) outputs: Option<Vec<Vec<u64>>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct AxisSize {
    pub(crate) input: String,
    pub(crate) axis: usize,
    pub(crate) size: u64,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct DtypeTrial {
    pub(crate) dtype: String,
    /// The types of the first outputs; none where it raised.
    pub(crate) outputs: Option<Vec<String>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Structure {
    pub(crate) state: Vec<StateEntry>,
    pub(crate) submodules: Vec<Submodule>,
    pub(crate) calls: Vec<LayerCall>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct StateEntry {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) shape: Option<Vec<u64>>,
    pub(crate) dtype: String,
    pub(crate) trained: bool,
    pub(crate) same_as: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Submodule {
    pub(crate) path: String,
    pub(crate) class_name: String,
    pub(crate) options: BTreeMap<String, String>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct LayerCall {
    pub(crate) operation: String,
    pub(crate) path: Option<String>,
    pub(crate) inputs: Vec<u32>,
    pub(crate) shape: Option<Vec<u64>>,
}

impl Manifest {
    /// From the record as JSON.
    ///
    /// # Errors
    ///
    /// The host wrote another form than this.
    pub(crate) fn read(record: &str) -> Result<Self, String> {
        serde_json::from_str(record).map_err(|error| format!("the manifest's record: {error}"))
    }
}
