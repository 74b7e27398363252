//! What a spec needs of the manifest's record beside what the contract's own record has.

use std::collections::BTreeMap;

use serde::Deserialize;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Manifest {
    pub evidence: Evidence,
    pub structure: Option<Structure>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Evidence {
    pub gradient: Option<Gradient>,
    pub flops: Option<u64>,
    pub challenge: Option<Challenge>,
    pub trials: Option<Trials>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Gradient {
    pub trained: u64,
    pub reached: u64,
}

#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Challenge {
    pub deterministic: bool,
    pub training: Training,
}

#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Training {
    pub raises: bool,
    pub output_differs: bool,
    pub state_changes: bool,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Trials {
    pub sizes: Vec<SizeTrial>,
    pub batch_independent: Option<bool>,
    pub dtypes: Vec<DtypeTrial>,
    pub other_device: Option<bool>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct SizeTrial {
    pub varied: String,
    pub axes: Vec<AxisSize>,
    /// The shapes of the first outputs; none where the pass raised.
    pub outputs: Option<Vec<Vec<u64>>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct AxisSize {
    pub input: String,
    pub axis: usize,
    pub size: u64,
}

#[derive(Clone, Debug, Deserialize)]
pub struct DtypeTrial {
    pub dtype: String,
    /// The types of the first outputs; none where it raised.
    pub outputs: Option<Vec<String>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Structure {
    pub state: Vec<StateEntry>,
    pub submodules: Vec<Submodule>,
    pub calls: Vec<LayerCall>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct StateEntry {
    pub name: String,
    pub kind: String,
    pub shape: Option<Vec<u64>>,
    pub dtype: String,
    pub trained: bool,
    pub same_as: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Submodule {
    pub path: String,
    pub class_name: String,
    pub options: BTreeMap<String, String>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct LayerCall {
    pub operation: String,
    pub path: Option<String>,
    pub inputs: Vec<u32>,
    pub shape: Option<Vec<u64>>,
}

impl Manifest {
    /// From the record as JSON.
    ///
    /// # Errors
    ///
    /// The host wrote another form than this.
    pub fn read(record: &str) -> Result<Self, String> {
        serde_json::from_str(record).map_err(|error| format!("the manifest's record: {error}"))
    }
}
