//! What validation found out about a bundle.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The levels of validation, each including the ones before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// CPython's `ast.parse` accepts the file.
    Parse = 1,
    /// `compile(..., "exec")` succeeds.
    Compile = 2,
    /// Importing it in a fresh process raises nothing and the block's class is there.
    Execute = 3,
    /// An instance was made.
    Construct = 4,
    /// A forward pass gave finite output of recorded shapes and dtypes.
    Forward = 5,
    /// Gradients reached the parameters.
    Backward = 6,
    /// The upstream class behaves the same.
    Parity = 7,
}

impl Level {
    pub const ALL: [Self; 7] =
        [Self::Parse, Self::Compile, Self::Execute, Self::Construct, Self::Forward, Self::Backward, Self::Parity];

    /// The name used on the command line and in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Parse => "parse",
            Self::Compile => "compile",
            Self::Execute => "execute",
            Self::Construct => "construct",
            Self::Forward => "forward",
            Self::Backward => "backward",
            Self::Parity => "parity",
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Passed,
    Failed,
    /// Not tried, or tried without a conclusion (no arguments were found): neither for nor against the bundle.
    #[default]
    Unknown,
    /// There is nothing to check (no parameters that a gradient could reach); does not stop the climb.
    NotApplicable,
}

/// Why a bundle failed. The names are a contract: they stand in records, on the command line and in reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    Syntax,
    MissingDistribution,
    UnresolvedName,
    UnresolvedImport,
    NativeExtension,
    ApiDrift,
    ImportCycle,
    ClassCreation,
    RegistryKey,
    DeviceOnly,
    DataRequired,
    ProcessState,
    RuntimeError,
    ParityMismatch,
    CpuTime,
    WallTime,
    Memory,
    Crash,
    NoReport,
    PolicyViolation,
    Harness,
}

impl FailureClass {
    /// As it stands in records: `unresolved_name`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Syntax => "syntax",
            Self::MissingDistribution => "missing_distribution",
            Self::UnresolvedName => "unresolved_name",
            Self::UnresolvedImport => "unresolved_import",
            Self::NativeExtension => "native_extension",
            Self::ApiDrift => "api_drift",
            Self::ImportCycle => "import_cycle",
            Self::ClassCreation => "class_creation",
            Self::RegistryKey => "registry_key",
            Self::DeviceOnly => "device_only",
            Self::DataRequired => "data_required",
            Self::ProcessState => "process_state",
            Self::RuntimeError => "runtime_error",
            Self::ParityMismatch => "parity_mismatch",
            Self::CpuTime => "cpu_time",
            Self::WallTime => "wall_time",
            Self::Memory => "memory",
            Self::Crash => "crash",
            Self::NoReport => "no_report",
            Self::PolicyViolation => "policy_violation",
            Self::Harness => "harness",
        }
    }

    /// Whether the environment rather than the block may be at fault, so that a second attempt is worth its time.
    pub fn is_transient(self) -> bool {
        matches!(self, Self::WallTime | Self::NoReport | Self::Harness | Self::Memory)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    pub class: FailureClass,
    /// The exception's type and text, or a sentence.
    pub message: String,
    /// `timm/layers/x.py:12`, the place in terms of upstream's files.
    pub upstream: Option<String>,
    /// Why what is missing was not installed, and what to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// How an argument or an output looks from outside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TensorShape {
    /// Dotted path inside a nested output (`0`, `logits`, `0.1`), or the name of an argument.
    pub name: String,
    pub shape: Vec<u64>,
    /// As torch writes it, without the prefix: `float32`.
    pub dtype: String,
}

/// With which a note begins where a block could not be constructed or run for want of arguments.
pub const ARGUMENTS_NOT_FOUND: &str = "arguments_not_found";
/// With which a note begins where nothing can be said about a block beside its upstream class.
pub const PARITY_UNKNOWN: &str = "parity_unknown";
/// Begins a note that says which function of upstream gave the arguments that were used.
pub const UPSTREAM_ARGUMENTS: &str = "upstream_arguments";

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// Python expressions by parameter name, as passed to the constructor.
    pub constructor_arguments: BTreeMap<String, String>,
    /// Python expressions by parameter name, as passed to `forward`, made in the order of the parameters.
    #[serde(default)]
    pub forward_arguments: BTreeMap<String, String>,
    pub forward_inputs: Vec<TensorShape>,
    pub forward_outputs: Vec<TensorShape>,
    /// Number of parameters, counted element by element.
    pub parameters: Option<u64>,
    /// What was compared with upstream, where it was the same.
    #[serde(default)]
    pub parity: Option<ParityEvidence>,
    /// Why a level is unknown. Those that begin with [`ARGUMENTS_NOT_FOUND`] say that no arguments fitted,
    /// those with [`PARITY_UNKNOWN`] why nothing was compared.
    pub notes: Vec<String>,
}

impl Evidence {
    /// Whether constructing or running it is unknown because no arguments were found that fit.
    pub fn lacks_arguments(&self) -> bool {
        self.reasons(ARGUMENTS_NOT_FOUND).any(|reason| !reason.starts_with(Level::Backward.name()))
    }

    /// Why nothing is known about the block beside its upstream class: `state_only: ...`.
    pub fn parity_unknown(&self) -> Option<&str> {
        self.reasons(PARITY_UNKNOWN).next()
    }

    fn reasons(&self, opening: &str) -> impl Iterator<Item = &str> {
        self.notes.iter().filter_map(move |note| note.strip_prefix(opening)?.strip_prefix(": "))
    }

    /// Why the lowest level without an outcome has none: `arguments_not_found: construct: ...`.
    pub fn open_question(&self) -> Option<&str> {
        let tells =
            |note: &&String| [ARGUMENTS_NOT_FOUND, PARITY_UNKNOWN].iter().any(|reason| note.starts_with(reason));
        self.notes.iter().find(tells).map(String::as_str)
    }
}

/// What of a bundle and of its upstream class is the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ParityEvidence {
    pub upstream: UpstreamOrigin,
    /// Entries of the state dictionary after construction.
    pub state_entries: u64,
    /// Tensors, other values and containers in the output in evaluation mode.
    pub output_parts: u64,
    /// Those in training mode.
    pub training_parts: u64,
}

/// Where the upstream class was imported from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UpstreamOrigin {
    /// The distribution at the source's own version, installed in the environment.
    Installed,
    /// The files that were fetched.
    Snapshot,
}

/// The outcome of every level, with the first failure and what backs the outcome up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    pub outcomes: BTreeMap<String, Outcome>,
    pub failure: Option<Failure>,
    pub evidence: Evidence,
    /// The code meddles with the interpreter (frames, tracing, the collector): a mark beside the verdict. Nothing looks
    /// for that yet, so it is never set.
    pub tainted: bool,
    /// The protections that were in force while the bundle ran, sorted.
    pub protections: Vec<String>,
    /// What they amount to.
    #[serde(default)]
    pub tier: Option<Tier>,
}

/// How well foreign code is confined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// Limits of time, memory and file size, and whatever else there is.
    Limited,
    /// Landlock keeps it from files and from other processes, and seccomp from all system calls that are not listed.
    Confined,
}

impl Tier {
    pub fn name(self) -> &'static str {
        match self {
            Self::Limited => "limited",
            Self::Confined => "confined",
        }
    }
}

impl Verdict {
    pub fn outcome(&self, level: Level) -> Outcome {
        self.outcomes.get(level.name()).copied().unwrap_or(Outcome::Unknown)
    }

    pub fn set(&mut self, level: Level, outcome: Outcome) {
        self.outcomes.insert(level.name().to_owned(), outcome);
    }

    /// The highest level passed with none failed or unknown below it, 0 for none. A level that is not applicable does
    /// not stop the climb and is not itself a level passed.
    pub fn level(&self) -> u8 {
        let mut reached = 0;
        for level in Level::ALL {
            match self.outcome(level) {
                Outcome::Passed => reached = level as u8,
                Outcome::NotApplicable => {}
                Outcome::Failed | Outcome::Unknown => break,
            }
        }
        reached
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_records() {
        for class in [FailureClass::Syntax, FailureClass::UnresolvedName, FailureClass::NoReport, FailureClass::Harness]
        {
            assert_eq!(serde_json::to_value(class).expect("a name"), class.name());
        }
        for level in Level::ALL {
            assert_eq!(serde_json::to_value(level).expect("a name"), level.name());
        }
    }
}
