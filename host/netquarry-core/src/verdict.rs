//! What validation found out about a bundle.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::structure::{Structure, Trials};

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

/// Whether a level and all below it are passed, or have nothing to check.
pub fn reaches(level: Level, outcome: impl Fn(Level) -> Outcome) -> bool {
    let mut climbed = Level::ALL.into_iter().take_while(|each| *each <= level);
    climbed.all(|each| matches!(outcome(each), Outcome::Passed | Outcome::NotApplicable))
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
/// Begins a note that says where others construct the class with the arguments that were used.
pub const CALL_SITE_ARGUMENTS: &str = "call_site_arguments";

/// Begins a note that says why a block that ran forward has not answered a challenge.
pub const NOT_CHALLENGED: &str = "not_challenged";
/// Begins a note that says why it is not known what a block that was constructed is made of, or what it gives for other
/// inputs.
pub const NOT_STUDIED: &str = "not_studied";
/// Begins a note that says why the exported graph of a block that answered was not replayed.
pub const NOT_REPLAYED: &str = "not_replayed";

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
    /// What a backward pass reached.
    #[serde(default)]
    pub gradient: Option<GradientEvidence>,
    /// Operations of a forward pass with the inputs above: two for each product and sum of a matrix product, a convolution
    /// or an attention and none for all else, as `torch.utils.flop_counter` counts.
    #[serde(default)]
    pub flops: Option<u64>,
    /// What the block answered when it was run on random numbers that it learnt only while it ran.
    #[serde(default)]
    pub challenge: Option<ChallengeEvidence>,
    /// The answer came out again where the block's exported graph was run in a process that has never seen its code.
    #[serde(default)]
    pub replayed: Option<ReplayEvidence>,
    /// What was compared with upstream, where it was the same.
    #[serde(default)]
    pub parity: Option<ParityEvidence>,
    /// What it gave for other inputs than those above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trials: Option<Trials>,
    /// Why something is unknown. Those that begin with [`ARGUMENTS_NOT_FOUND`] say that no arguments fitted,
    /// those with [`PARITY_UNKNOWN`] why nothing was compared, those with [`NOT_CHALLENGED`] and [`NOT_REPLAYED`] why that
    /// evidence is missing.
    pub notes: Vec<String>,
    /// What the code touches that could make it lie to the validator, sorted; says nothing about pass or fail.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tainted: Vec<Taint>,
}

/// A use of something by which code can deceive the validator, which runs in the same process.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Taint {
    /// The line of the bundle, 1-based, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// `timm/layers/x.py:12`, where the line comes from a file of upstream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upstream: Option<String>,
    pub reason: TaintReason,
    /// `sys._getframe`, `torch.Tensor.backward`
    pub what: String,
    pub seen: Sighting,
}

impl Taint {
    /// In one line: `frames: sys._getframe at timm/layers/x.py:12, in the text`.
    pub fn told(&self) -> String {
        let place = match (&self.upstream, self.line) {
            (Some(upstream), _) => format!(" at {upstream}"),
            (None, Some(line)) => format!(" at line {line}"),
            (None, None) => String::new(),
        };
        let seen = match self.seen {
            Sighting::Text => "in the text",
            Sighting::Running => "while it ran",
            Sighting::Both => "in the text and while it ran",
        };
        format!("{}: {}{place}, {seen}", self.reason.name(), self.what)
    }
}

/// What a use touches. The names are a contract, as those of failures are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaintReason {
    /// Frames of whoever called, the validator's among them.
    Frames,
    /// The collector, which knows every object.
    Collector,
    /// What is called whenever something runs: traces, profiles, audit hooks.
    Tracing,
    Signals,
    /// Memory by its address, and code that no compiler made.
    Memory,
    /// What an import or a builtin name gives to everybody, the validator's own modules among it.
    Modules,
    /// Attributes of torch's own modules and classes.
    Torch,
    /// How the process ends.
    Exit,
    /// The text cannot be read without running it.
    Unread,
}

impl TaintReason {
    /// As it stands in records: `frames`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Frames => "frames",
            Self::Collector => "collector",
            Self::Tracing => "tracing",
            Self::Signals => "signals",
            Self::Memory => "memory",
            Self::Modules => "modules",
            Self::Torch => "torch",
            Self::Exit => "exit",
            Self::Unread => "unread",
        }
    }
}

/// How a use was noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sighting {
    /// It stands in the text, whether or not it ran.
    Text,
    /// It happened while the bundle ran, as the bundle's own process says.
    Running,
    Both,
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

    /// Why it has not answered a challenge, though it ran forward.
    pub fn not_challenged(&self) -> Option<&str> {
        self.reasons(NOT_CHALLENGED).next()
    }

    /// Why its graph was not replayed, though it answered: `export: ...`.
    pub fn not_replayed(&self) -> Option<&str> {
        self.reasons(NOT_REPLAYED).next()
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

/// Of the parameters that ask for a gradient, how many there are and how many got one; each counts once, whatever its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GradientEvidence {
    pub trained: u64,
    pub reached: u64,
}

/// What two processes answered to the same challenge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChallengeEvidence {
    /// Both gave the same, to the bit: the output in evaluation and in training mode, and the state before and after.
    pub deterministic: bool,
    pub training: TrainingEvidence,
}

/// What is different in a pass in training mode, which comes after one in evaluation mode on the same instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrainingEvidence {
    /// It raises, which counts as another output.
    #[serde(default)]
    pub raises: bool,
    /// The same inputs give another output.
    pub output_differs: bool,
    /// It changes the state dictionary.
    pub state_changes: bool,
}

/// What an exported graph gave that is equal to the block's own answer, to the bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReplayEvidence {
    /// How many operators of torch the graph has.
    pub operators: u64,
    /// Tensors and other values in the output.
    pub output_parts: u64,
}

/// What of a bundle and of its upstream class is the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ParityEvidence {
    pub upstream: UpstreamOrigin,
    /// Statements of a shim that were executed for upstream's class, where there are any: the state that the code base's
    /// own programs set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upstream_state: Option<String>,
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
    /// What the instance is made of, where there is one.
    #[serde(default)]
    pub structure: Option<Structure>,
    /// The code touches what could make it lie to the validator ([`Evidence::tainted`] says what): a mark beside the
    /// verdict, which stays what it is.
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

    /// Whether this level and all below it are passed, or have nothing to check.
    pub fn reaches(&self, level: Level) -> bool {
        reaches(level, |each| self.outcome(each))
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
