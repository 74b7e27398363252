//! Calls that failed, kept with all that it takes to make them again: the component, what it was given, and what the host
//! answered.
//!
//! A kept call is a folder: `component.wasm`, and `call.json` with a [`KeptCall`]. The host makes it again with
//! [`KeptCall::replay`]; the SDKs make it natively, where a debugger can look at it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::{fs, io};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::cache::hexadecimal;
use crate::error::{CallError, ConfigureError};
use crate::plugin::{Kind, Plugin};
use crate::tape::HostCall;

/// The name of the file with the call in the folder of a kept one.
const CALL: &str = "call.json";
/// Likewise of that with the component.
const COMPONENT: &str = "component.wasm";

/// A call as it was made. Arguments and answers are as the contract has them: records by their fields with underscores for
/// hyphens, cases in CamelCase, `{"Ok": ...}` or `{"Err": ...}` for a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptCall {
    /// The version of this format: 1.
    pub format: u32,
    pub plugin: String,
    pub version: String,
    /// Of the component.
    pub sha256: String,
    pub kind: Kind,
    /// The function of the world: `answer-dynamic`.
    pub function: String,
    /// What the call was about, in words.
    pub item: String,
    /// A JSON object.
    pub configuration: Value,
    /// Of the function, without resources.
    pub arguments: Vec<Value>,
    /// How many blocks a strategy was asked about, for its limits grow with them.
    #[serde(default)]
    pub blocks: u32,
    /// What the plugin asked the host, each question once.
    pub host_calls: Vec<HostCall>,
    /// What the call came to.
    pub outcome: Outcome,
}

/// What a call comes to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Answered(Value),
    /// Why not, and what the plugin logged last.
    Failed {
        why: String,
        log: Vec<String>,
    },
}

impl Outcome {
    pub(crate) fn of(result: Result<Value, CallError>) -> Self {
        match result {
            Ok(answer) => Self::Answered(answer),
            Err(error) => Self::failed(&error),
        }
    }

    pub(crate) fn failed(error: &CallError) -> Self {
        Self::Failed { why: error.failure.to_string(), log: error.logged().collect() }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum KeptError {
    #[error("cannot read {}: {error}", path.display())]
    Unreadable { path: PathBuf, error: io::Error },
    #[error("{} is not a kept call: {message}{}", path.display(), at(.place))]
    Syntax { path: PathBuf, place: String, message: String },
    #[error("{} is a kept call of format {found}, and this program reads format {}", path.display(), KeptCall::FORMAT)]
    Format { path: PathBuf, found: u32 },
    #[error("the call is of a {wanted}, and the plugin is a {found}")]
    Kind { wanted: Kind, found: Kind },
    #[error("the arguments of the kept call are none of {function}: {message}")]
    Arguments { function: String, message: String },
    #[error(transparent)]
    Configure(#[from] ConfigureError),
}

fn at(place: &str) -> String {
    if place.is_empty() || place == "." { String::new() } else { format!(" (at {place})") }
}

impl KeptCall {
    /// The version of the format.
    pub const FORMAT: u32 = 1;

    /// Reads the call in the folder of a kept one.
    ///
    /// # Errors
    ///
    /// Where there is none, or none of this format.
    pub fn read(folder: &Path) -> Result<Self, KeptError> {
        let path = folder.join(CALL);
        let text = fs::read_to_string(&path).map_err(|error| KeptError::Unreadable { path: path.clone(), error })?;
        let mut deserializer = serde_json::Deserializer::from_str(&text);
        let call: Self = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| KeptError::Syntax {
            path: path.clone(),
            place: error.path().to_string(),
            message: error.inner().to_string(),
        })?;
        if call.format == Self::FORMAT { Ok(call) } else { Err(KeptError::Format { path, found: call.format }) }
    }

    /// The component in the folder of a kept call.
    pub fn component(folder: &Path) -> PathBuf {
        folder.join(COMPONENT)
    }

    /// Makes the call again, of this plugin: the one that was kept, or another build of it. The host answers as it did; a
    /// question that was not asked then ends the call.
    ///
    /// # Errors
    ///
    /// Where it cannot be made at all. A call that fails is an outcome.
    pub fn replay(&self, plugin: &Plugin) -> Result<Outcome, KeptError> {
        let found = plugin.description().kind;
        if found != self.kind {
            return Err(KeptError::Kind { wanted: self.kind, found });
        }
        match self.kind {
            Kind::DiscoveryRule => plugin.discovery_rule(&self.configuration)?.replay(self),
            Kind::RepoShim => plugin.repo_shim(&self.configuration)?.replay(self),
            Kind::DedupStrategy => plugin.dedup_strategy(&self.configuration)?.replay(self),
            Kind::SpecEmitter => plugin.spec_emitter(&self.configuration)?.replay(self),
        }
    }

    /// The argument at this position.
    pub(crate) fn argument<T: serde::de::DeserializeOwned>(&self, position: usize) -> Result<T, KeptError> {
        let value = self.arguments.get(position).cloned().unwrap_or_default();
        serde_path_to_error::deserialize(value).map_err(|error| self.misfit(error.to_string()))
    }

    pub(crate) fn misfit(&self, message: String) -> KeptError {
        KeptError::Arguments { function: self.function.clone(), message }
    }
}

/// Keeps failing calls of one plugin.
#[derive(Debug)]
pub(crate) struct Keeper {
    /// Where the folders of kept calls go.
    folder: PathBuf,
    component: Vec<u8>,
    /// How many were kept, by function.
    kept: Mutex<BTreeMap<String, u32>>,
}

/// So many calls of one function of a plugin are kept; further ones would tell the same.
const MOST: u32 = 3;

impl Keeper {
    pub(crate) fn new(folder: PathBuf, component: &[u8]) -> Self {
        Self { folder, component: component.to_owned(), kept: Mutex::default() }
    }

    /// Whether one more call of the function is to be kept, which then counts as kept.
    pub(crate) fn wants(&self, function: &str) -> bool {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let count = kept.entry(function.to_owned()).or_default();
        *count += 1;
        *count <= MOST
    }

    /// The folder of the call, which is the same for the same call.
    pub(crate) fn keep(&self, call: &KeptCall) -> io::Result<PathBuf> {
        let text = serde_json::to_string_pretty(call).expect("its keys are strings") + "\n";
        let digest = hexadecimal(&Sha256::digest(text.as_bytes()));
        let KeptCall { plugin, version, function, .. } = call;
        let folder = self.folder.join(format!("{plugin}-{version}-{function}-{}", &digest[..8]));
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(COMPONENT), &self.component)?;
        fs::write(folder.join(CALL), text)?;
        Ok(folder)
    }
}
