//! The messages between the host, the worker and the children: JSON behind its length in four bytes, big-endian.

use std::collections::BTreeMap;
use std::fs::File;

use super::harvest::Suggestion;
use super::lookup::{Answer, Lookup};
use super::scrub::Places;
use super::sites::Site;
use netquarry_core::structure::{DtypeTrial, LayerCall, SizeTrial, StateEntry, Submodule};
use netquarry_core::verdict::{GradientEvidence, TaintReason, TensorShape};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// Sent to the worker once, before anything else.
#[derive(Debug, Serialize)]
pub(super) struct Settings<'a> {
    /// Modules to import before the first fork.
    pub(super) warm: &'a [&'a str],
    pub(super) limits: &'a super::Limits,
    /// What a ruleset protects from, by name.
    pub(super) landlock: &'a [&'a str],
    /// seccomp filters, each in hexadecimal, and what stands in them for the process that installs them.
    pub(super) filters: &'a [String],
    pub(super) own_process: u32,
    /// Whether to try to have namespaces of its own, and a file system for each scratch folder.
    pub(super) namespaces: bool,
    pub(super) private_scratch: bool,
    /// What Landlock allows in a scratch folder, as the kernel has it.
    pub(super) scratch_rights: u64,
    /// The protections without which no child runs a bundle.
    pub(super) required: &'a [String],
}

/// Where a branch finds upstream.
#[derive(Clone, Debug, Serialize)]
pub(super) struct UpstreamSettings<'a> {
    /// Folders that come first on the path.
    pub(super) paths: &'a [std::path::PathBuf],
    /// Folders that come last.
    pub(super) layers: Vec<&'a std::path::Path>,
    /// What a process may not do that runs upstream's code even though it has to fork.
    pub(super) filters: &'a [String],
}

/// What a worker says once it can fork, and a branch of one.
#[derive(Debug, Deserialize)]
pub(super) struct Ready {
    pub(super) threads: u64,
    pub(super) peak_bytes: u64,
    /// What importing the branch's module raised.
    pub(super) failure: Option<Exception>,
}

/// Sent to a worker for every child.
#[derive(Debug, Serialize)]
#[serde(tag = "request", rename_all = "lowercase")]
pub(super) enum Request<'a> {
    /// With descriptors: the job's socket, the writing ends for the report and for what the child prints, and those that
    /// are named.
    Job {
        #[serde(flatten)]
        job: &'a ChildJob<'a>,
        descriptors: Vec<&'static str>,
    },
    /// To serve with more than this process has: with upstream within reach, or with one of its modules. With
    /// descriptors: the job's socket, the control socket of the branch, and the Landlock ruleset, if the kernel has that.
    Branch { upstream: Option<UpstreamSettings<'a>>, module: Option<&'a str>, scratch: &'a std::path::Path },
}

#[derive(Debug, Serialize)]
pub(super) struct ChildJob<'a> {
    pub(super) token: &'a str,
    pub(super) file: &'a str,
    pub(super) class_name: &'a str,
    pub(super) level: &'a str,
    pub(super) blocked_packages: &'a [String],
    pub(super) operator_packages: &'a [String],
    /// Folders to put on the path, behind all others.
    pub(super) layers: Vec<&'a std::path::Path>,
    pub(super) arguments: Option<&'a netquarry_core::shim::BlockArguments>,
    /// Arguments to try before others.
    pub(super) suggested: Option<&'a Suggestion>,
    /// Where others construct the class.
    pub(super) sites: &'a [Site],
    pub(super) scratch: &'a str,
    /// Address space beyond what the worker has mapped already.
    pub(super) memory_bytes: u64,
    /// Whether it can be run again with more than that.
    pub(super) may_have_more: bool,
    /// The size of any one file that it writes.
    pub(super) file_bytes: u64,
    /// Behind climbing: tell what the block is made of, and how what it gives follows from what it takes.
    pub(super) studies: bool,
    /// Instead of climbing: repeat what an earlier child did.
    pub(super) replay: Option<&'a Replay<'a>>,
    /// Instead of climbing: meet a part of a challenge.
    pub(super) challenge: Option<&'a Challenge<'a>>,
    /// Instead of climbing: look names up.
    pub(super) lookups: Option<&'a [Lookup]>,
    /// Instead of climbing: see what the functions of this module of upstream give to its classes.
    pub(super) harvest: Option<&'a str>,
    /// Instead of climbing: try what the sandbox has to refuse.
    pub(super) probe: Option<&'a Probe>,
}

/// What lies outside of the sandbox, to be tried to get at.
#[derive(Debug, Serialize)]
pub(super) struct Probe {
    pub(super) file: std::path::PathBuf,
    /// Of a listener on the loopback device.
    pub(super) port: u16,
    /// Its name in the abstract namespace.
    pub(super) abstract_socket: String,
    /// The namespaces of the host by their kind, as `/proc/self/ns` has them.
    pub(super) namespaces: BTreeMap<&'static str, std::path::PathBuf>,
    /// What a scratch folder may take at most, where that is limited.
    pub(super) scratch_bytes: u64,
    pub(super) scratch_files: u64,
}

/// What a child is to do.
#[derive(Clone, Copy, Debug)]
pub(super) enum Task<'a> {
    /// With arguments to try before others.
    Climb(Option<&'a Suggestion>),
    Replay(&'a Replay<'a>),
    Challenge(&'a Challenge<'a>),
    LookUp(&'a [Lookup]),
    /// Of the module of this name.
    Harvest(&'a str),
}

impl<'a> Task<'a> {
    /// Whether it needs upstream's own modules within reach.
    pub(super) fn meets_upstream(&self) -> bool {
        match self {
            Self::Climb(_) | Self::Challenge(_) => false,
            Self::Replay(replay) => replay.upstream.is_some(),
            Self::LookUp(_) | Self::Harvest(_) => true,
        }
    }

    /// Whether it goes on where it runs short of memory, with less to tell.
    pub(super) fn hides_shortage(&self) -> bool {
        matches!(self, Self::LookUp(_) | Self::Harvest(_))
    }

    pub(super) fn suggested(self) -> Option<&'a Suggestion> {
        if let Self::Climb(suggested) = self { suggested } else { None }
    }

    pub(super) fn replay(self) -> Option<&'a Replay<'a>> {
        if let Self::Replay(replay) = self { Some(replay) } else { None }
    }

    pub(super) fn challenge(self) -> Option<&'a Challenge<'a>> {
        if let Self::Challenge(challenge) = self { Some(challenge) } else { None }
    }

    pub(super) fn part(self) -> Option<Part> {
        self.challenge().map(|challenge| challenge.part)
    }

    pub(super) fn lookups(self) -> Option<&'a [Lookup]> {
        if let Self::LookUp(lookups) = self { Some(lookups) } else { None }
    }

    pub(super) fn harvest(self) -> Option<&'a str> {
        if let Self::Harvest(module) = self { Some(module) } else { None }
    }
}

/// What a child is to repeat and to tell about.
#[derive(Debug, Serialize)]
pub(super) struct Replay<'a> {
    /// Where the class is imported from; the bundle where there is none.
    pub(super) upstream: Option<UpstreamClass<'a>>,
    /// Expressions by parameter.
    pub(super) constructor: &'a BTreeMap<String, String>,
    /// Expressions by parameter; none where no forward pass is to be made.
    pub(super) forward: Option<&'a BTreeMap<String, String>>,
    /// The section and the name of a leaf whose values are to be told too.
    pub(super) values_of: Option<(&'a str, &'a str)>,
    /// Fill memory that nobody has written to.
    pub(super) fill_memory: bool,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct UpstreamClass<'a> {
    pub(super) module: &'a str,
    pub(super) class_name: &'a str,
    /// Statements to be executed before the class is called.
    pub(super) state: Option<&'a str>,
}

/// A part of a challenge: what is done with numbers that the child gets one by one, each once it says that it is ready.
#[derive(Debug, Serialize)]
pub(super) struct Challenge<'a> {
    pub(super) part: Part,
    /// Expressions by parameter.
    pub(super) constructor: &'a BTreeMap<String, String>,
    pub(super) forward: &'a BTreeMap<String, String>,
    #[serde(skip)]
    pub(super) numbers: &'a [u32],
    /// Where the model's graph is written to, or read from.
    #[serde(skip)]
    pub(super) graph: Option<&'a File>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Part {
    /// What comes out of the model.
    Answer,
    /// The model's graph, written to a file.
    Export,
    /// What comes out of that graph, where nobody has seen the bundle.
    Graph,
}

impl<'a> Challenge<'a> {
    /// The file that is written to.
    pub(super) fn to_be_written(&self) -> Option<&'a File> {
        self.graph.filter(|_| self.part == Part::Export)
    }
}

/// What the worker tells about a child on the job's socket.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(tag = "child", rename_all = "lowercase")]
pub(super) enum Told {
    /// With the descriptor of the process, by which the host can end it.
    Started,
    Ended(Ending),
}

/// How a child ended.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct Ending {
    /// The exit status, or minus the number of the signal.
    pub(super) status: i32,
    pub(super) cpu_seconds: f64,
    pub(super) peak_bytes: u64,
}

/// A message of the child, which counts only with the token of its job.
#[derive(Debug, Deserialize)]
pub(super) struct Reported {
    pub(super) token: String,
    #[serde(flatten)]
    pub(super) event: Event,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub(super) enum Event {
    /// Before any foreign code runs.
    Confined {
        protections: Vec<String>,
    },
    Harness {
        exception: Exception,
    },
    Passed {
        level: String,
        evidence: LevelEvidence,
    },
    Failed {
        level: String,
        exception: Exception,
    },
    /// There is nothing to check.
    Inapplicable {
        level: String,
    },
    /// An instance is about to be made, and so are others behind it.
    Constructing {
        with_arguments: bool,
    },
    /// No arguments were found; the exception is that of the first try.
    Undecided {
        level: String,
        note: String,
        exception: Option<Exception>,
        /// Whether the first try had arguments that nobody gave.
        #[serde(default)]
        guessed: bool,
    },
    /// What the bundle has touched by which it could lie, as far as that was noticed.
    Tainted {
        signs: Vec<SignSeen>,
    },
    /// In a replay: upstream's module is there, from a file of this digest.
    Imported {
        sha1: Option<String>,
    },
    /// In a replay: parts of the state dictionary or of the output, in order.
    Leaves {
        section: Section,
        leaves: Vec<Leaf>,
    },
    /// In a replay: values of the leaf that was asked for, as doubles in hexadecimal.
    Values {
        values: String,
    },
    /// One for each name that was to be looked up.
    Answers {
        answers: Vec<Answer>,
    },
    /// It waits for the next number of its challenge.
    Ready,
    /// In a challenge: the operations of a forward pass.
    Counted {
        flops: Option<u64>,
    },
    /// In a challenge: an exported graph is there, with so many operators.
    Read {
        operators: u64,
    },
    /// In a study: some of what the instance is made of, in order.
    Structure {
        state: Vec<StateEntry>,
        submodules: Vec<Submodule>,
    },
    /// In a challenge: some of the calls that an exported graph is made of, in order.
    Layers {
        calls: Vec<LayerCall>,
    },
    /// In a study: a pass with inputs of other sizes.
    Trial(SizeTrial),
    /// In a study: whether the first of a batch depends on the others.
    Independence {
        independent: bool,
    },
    /// In a study: a pass with another type.
    Dtype(DtypeTrial),
    /// In a challenge: whether a pass on another device worked.
    Device {
        works: bool,
    },
    /// It needs more memory than it has, and may have more.
    Short,
    /// What a class of upstream's module was given.
    Harvested {
        class_name: String,
        #[serde(flatten)]
        suggestion: Suggestion,
    },
    /// A replay ends before its time.
    Stopped {
        step: String,
        exception: Exception,
    },
    Done,
}

#[derive(Debug, Deserialize)]
pub(super) struct SignSeen {
    pub(super) reason: TaintReason,
    pub(super) what: String,
    /// Of the bundle, where it did that itself.
    pub(super) line: Option<u32>,
}

/// What a leaf is a part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Section {
    State,
    Output,
    Training,
    #[serde(rename = "trained state")]
    TrainedState,
    /// Tensors and other values of the output, without their containers.
    Flat,
}

/// A part of a state dictionary or of an output.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Leaf {
    pub(super) name: String,
    /// `float32 [2, 3]`, `int 5`, `tuple of 2`
    pub(super) what: String,
    /// Of a tensor's bytes.
    pub(super) digest: Option<String>,
    /// It stands for an output that there is none of.
    #[serde(default)]
    pub(super) raised: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct LevelEvidence {
    /// Of the instance that this is about; a level that looks at one may have made another than the level before it.
    pub(super) constructor_arguments: Option<BTreeMap<String, String>>,
    /// Where others construct the class with these arguments.
    pub(super) call_site: Option<String>,
    pub(super) parameters: Option<u64>,
    pub(super) forward_arguments: BTreeMap<String, String>,
    pub(super) forward_inputs: Vec<TensorShape>,
    pub(super) forward_outputs: Vec<TensorShape>,
    pub(super) gradient: Option<GradientEvidence>,
    pub(super) notes: Vec<String>,
}

/// A Python exception, as the child describes it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Exception {
    /// The name of its class.
    #[serde(rename = "type")]
    pub(super) class: String,
    /// The names of the builtin classes that it is an instance of.
    pub(super) bases: Vec<String>,
    pub(super) message: String,
    /// The attribute `name` of an ImportError, NameError or AttributeError.
    pub(super) name: Option<String>,
    /// From the outside in.
    pub(super) frames: Vec<Frame>,
    /// The exceptions that led to it, nearest first.
    pub(super) causes: Vec<Exception>,
    /// Of a NameError: the bundle binds the name somewhere.
    pub(super) bound_in_bundle: bool,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Frame {
    pub(super) file: String,
    pub(super) line: u32,
    pub(super) function: String,
}

impl Exception {
    /// With messages that say nothing of where files lay in this one run.
    pub(super) fn without_places(self, places: &Places) -> Self {
        let causes = self.causes.into_iter().map(|cause| cause.without_places(places)).collect();
        Self { message: places.scrub(&self.message), causes, ..self }
    }

    pub(super) fn is_a(&self, builtin: &str) -> bool {
        self.bases.iter().any(|base| base == builtin)
    }
}

pub(super) fn encode(message: &impl Serialize) -> Vec<u8> {
    let body = serde_json::to_vec(message).expect("messages are plain data");
    let length = u32::try_from(body.len()).expect("a message of ours is under 4 GiB");
    [&length.to_be_bytes()[..], &body].concat()
}

/// Takes the first message off `bytes`, if all of it is there.
///
/// # Errors
/// The bytes are no message of this type, and never will be.
pub(super) fn decode<T: DeserializeOwned>(bytes: &mut Vec<u8>) -> Result<Option<T>, Malformed> {
    const LONGEST: usize = 1 << 20;
    let Some((header, rest)) = bytes.split_first_chunk::<4>() else {
        return Ok(None);
    };
    let length = u32::from_be_bytes(*header) as usize;
    if length > LONGEST {
        return Err(Malformed);
    }
    let Some(body) = rest.get(..length) else {
        return Ok(None);
    };
    let message = serde_json::from_slice(body).map_err(|_| Malformed)?;
    bytes.drain(..4 + length);
    Ok(Some(message))
}

/// Bytes that are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Malformed;
