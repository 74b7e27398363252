//! Runs bundles in confined Python processes and says how far each one gets.
//!
//! A worker is one Python process that has imported torch and forks a child per bundle; its source is in `python/`. The
//! child reports on a descriptor of its own, the worker tells how the child ended, and everything else is decided
//! here: the clock, what counts as a report, the class of a failure, a second attempt. What a child says is evidence;
//! code that runs in the same interpreter as the report can forge it, and a verdict promises no more than that.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use netquarry_core::shim::BlockArguments;
use netquarry_core::verdict::{Level, UpstreamOrigin, Verdict};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::environment::{Environment, Layer};

mod access;
mod challenge;
mod classify;
mod filter;
mod follow;
mod harvest;
mod judge;
pub mod lookup;
mod memory;
mod observation;
mod parity;
mod pool;
mod program;
mod protocol;
mod sandbox;
mod scratch;
mod scrub;
mod sites;
mod study;
mod taint;
#[cfg(test)]
mod tests;
mod upstream;
mod worker;

pub use parity::upstream_import_error;
pub use pool::WorkerStatistics;
pub use sandbox::{Sandbox, probe};
pub use sites::Site;

/// The version of how reports are judged. Raise it with every change to `challenge`, `classify`, `follow`, `judge`,
/// `observation`, `parity`, `pool`, `scrub`, `study` or `taint`, or to what [`netquarry_core::taint`] looks for, after which the same
/// reports give another verdict: verdicts that were kept before are then reached anew.
pub const VALIDATION_VERSION: u32 = 15;

/// One bundle to validate.
#[derive(Clone, Debug)]
pub struct Job {
    /// Whose bundle it is; only for the caller's own use.
    pub id: String,
    /// The bundle. Its stem becomes the name of the module, so it should be an identifier.
    pub file: PathBuf,
    /// The class that has to be there.
    pub class_name: String,
    /// Top-level packages that cannot be imported: the bundle's own sources.
    pub blocked_packages: Vec<String>,
    /// Those of the blocked packages whose compiled operators the bundle uses: importing one by its bare name loads
    /// its operators and nothing else.
    pub operator_packages: Vec<String>,
    /// What is installed for the bundle beside the environment. They come last on Python's path: nothing of them stands
    /// in the place of what torch was imported with.
    pub layers: Arc<[Layer]>,
    /// How to construct and run the block, where a shim says so.
    pub arguments: Option<BlockArguments>,
    /// How others construct the block, the likeliest first.
    pub sites: Arc<[Site]>,
    /// Where the lines of the bundle come from.
    pub line_map: Vec<LineSpan>,
    /// The class that the bundle is to be compared with at [`Level::Parity`].
    pub upstream: Option<Upstream>,
}

/// Where the class that a bundle was made from can be imported.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Upstream {
    /// `timm.layers.drop`
    pub module: String,
    pub class_name: String,
    /// SHA-1 of the module's file, in hexadecimal: another file than this one is another upstream.
    pub sha1: String,
    pub origin: UpstreamOrigin,
    /// Statements that set what the code base's own programs set before they construct anything.
    pub state: Option<String>,
    /// Folders that have to come first on Python's path; none where all that is needed is installed.
    pub paths: Vec<PathBuf>,
    /// What is installed for it beside the environment.
    pub layers: Arc<[Layer]>,
    /// Stands for what lies in `paths`, in their order.
    pub identity: String,
}

/// A run of lines that a bundle has from one place of an upstream file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LineSpan {
    /// 1-based lines of the bundle, inclusive.
    pub bundle_start: u32,
    pub bundle_end: u32,
    /// Relative to the source's root: `timm/layers/drop.py`.
    pub path: String,
    /// The line of that file that stands at `bundle_start`.
    pub upstream_start: u32,
}

#[derive(Clone, Debug)]
pub struct Options {
    /// The highest level to try.
    pub level: Level,
    /// Challenge what ran forward, from [`Level::Backward`] on.
    pub challenges: bool,
    /// Look at what was constructed, and try what ran forward with other inputs.
    pub studies: bool,
    /// How many bundles run at once.
    pub jobs: usize,
    pub limits: Limits,
    /// What all that run at once may take together; nothing for what the machine has.
    pub memory_bytes: Option<u64>,
    /// What confines processes on this machine.
    pub sandbox: Sandbox,
    /// Run foreign code even where Landlock or the filter of system calls is missing.
    pub allow_weak_sandbox: bool,
    /// How often a bundle is tried where the environment may be at fault; at least once.
    pub attempts: u32,
    /// The pause before the second attempt; doubled before each further one.
    pub back_off: Duration,
}

/// What one bundle may take.
#[derive(Clone, Debug, Serialize)]
pub struct Limits {
    /// Between the start of the child and its end.
    pub wall: Duration,
    /// Processor time, in whole seconds.
    pub cpu_seconds: u64,
    /// Address space beyond what the worker has mapped already.
    pub memory_bytes: u64,
    /// The size of any one file that it writes; of all together where the scratch folder is its own file system, which lies
    /// in memory.
    pub file_bytes: u64,
    /// Open descriptors.
    pub descriptors: u64,
    /// How much it may report before it is ended.
    pub report_bytes: usize,
}

impl Options {
    pub fn new(level: Level, sandbox: Sandbox) -> Self {
        Self {
            level,
            challenges: true,
            studies: true,
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
            limits: Limits::default(),
            memory_bytes: None,
            sandbox,
            allow_weak_sandbox: false,
            attempts: 2,
            back_off: Duration::from_millis(250),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            wall: Duration::from_secs(120),
            cpu_seconds: 30,
            memory_bytes: 4 << 30,
            file_bytes: 64 << 20,
            descriptors: 256,
            report_bytes: 1 << 20,
        }
    }
}

/// Why nothing can be validated at all. A bundle never causes one of these.
#[derive(Debug, thiserror::Error)]
pub enum ValidateError {
    #[error("could not start the Python worker `{}`", python.display())]
    NotStarted { python: PathBuf, source: std::io::Error },
    #[error("the Python worker `{}` ended while it imported torch{}:\n{output}", python.display(), by_signal(*signal))]
    NotReady { python: PathBuf, signal: Option<i32>, output: String },
    #[error("the Python worker `{}` did not get ready within {seconds} seconds", python.display())]
    NotReadyInTime { python: PathBuf, seconds: u64 },
    #[error("the Python worker `{}` has {threads} threads and cannot be forked safely", python.display())]
    Threads { python: PathBuf, threads: u64 },
    #[error("the sandbox of this machine is too weak to run foreign code: it has no {missing}")]
    WeakSandbox { missing: String },
    #[error("the kernel has Landlock and would not make a ruleset")]
    Landlock(#[from] landlock::RulesetError),
    #[error("could not {action} `{}`", path.display())]
    Io { action: &'static str, path: PathBuf, source: std::io::Error },
}

impl ValidateError {
    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotStarted { .. } | Self::NotReady { .. } | Self::Threads { .. } => {
                "see whether that interpreter runs `import torch`; another one can be named with --python"
            }
            Self::NotReadyInTime { .. } => "the machine may be overloaded; try again, or with fewer --jobs",
            Self::WeakSandbox { .. } => {
                "use a Linux of 5.13 or newer with Landlock and seccomp, as most distributions and containers have it; \
                 --allow-weak-sandbox runs code that you trust"
            }
            Self::Landlock(_) => {
                "see whether the machine is short of memory or descriptors; try again with fewer --jobs"
            }
            Self::Io { .. } => "make sure that the folder for temporary files exists, can be written to, and has room",
        }
    }
}

fn by_signal(signal: Option<i32>) -> String {
    signal.map(|signal| format!(", by {}", judge::signal_name(signal))).unwrap_or_default()
}

/// Validates every job and hands each verdict on as it comes, from the thread that ran it and in no order. A verdict
/// depends on its job, the environment and the options alone, never on the other jobs or on how many run at once; with
/// challenges also on their random numbers, where a block raises for some of them.
///
/// # Errors
/// No worker can be started. Verdicts that were reached before have been handed on.
pub fn validate<I>(
    jobs: I,
    environment: &Environment,
    options: &Options,
    on_verdict: &(dyn Fn(&Job, Verdict) + Sync),
) -> Result<WorkerStatistics, ValidateError>
where
    I: IntoIterator<Item = Job>,
    I::IntoIter: Send,
{
    pool::run(jobs.into_iter(), environment, options, on_verdict)
}

impl Options {
    /// SHA-256, in hexadecimal, of everything beside the job and the environment that a verdict depends on: the level,
    /// the limits, the layers of the sandbox, the worker's own source, what is out of its reach, and how its reports are judged.
    pub fn digest(&self) -> String {
        let mut hasher = Sha256::new();
        hasher.update(env!("CARGO_PKG_VERSION"));
        hasher.update(VALIDATION_VERSION.to_le_bytes());
        access::SYSTEM.iter().for_each(|path| hasher.update(path));
        hasher.update(filter::programs().concat());
        hasher.update(filter::importer_programs().concat());
        self.sandbox.layers.iter().for_each(|layer| hasher.update(layer));
        hasher.update(self.level.name());
        hasher.update([u8::from(self.challenges), u8::from(self.studies)]);
        hasher.update(serde_json::to_vec(&self.limits).expect("limits are plain numbers"));
        for (path, text) in program::FILES {
            hasher.update(path);
            hasher.update(text);
        }
        format!("{:x}", hasher.finalize())
    }
}

impl Job {
    /// SHA-256, in hexadecimal, of everything of the job that a verdict depends on, given the digest of the bundle's
    /// bytes: neither the identity nor where the file lies.
    pub fn digest(&self, bundle_sha256: &str) -> String {
        let mut hasher = Sha256::new();
        let stem = self.file.file_stem().unwrap_or_default().as_encoded_bytes();
        let upstream =
            self.upstream.as_ref().map(|it| (&it.module, &it.class_name, &it.sha1, it.origin, &it.state, &it.identity));
        let blocked = (&self.blocked_packages, &self.operator_packages);
        let parts = (&self.class_name, blocked, &self.arguments, &self.sites[..], &self.line_map, upstream);
        hasher.update(bundle_sha256);
        hasher.update(stem);
        hasher.update(serde_json::to_vec(&parts).expect("text and numbers can be written as JSON"));
        // A bundle for which nothing is installed keeps its verdict, whatever is installed for others.
        let upstream = self.upstream.iter().flat_map(|upstream| upstream.layers.iter());
        for layer in self.layers.iter().chain(upstream) {
            hasher.update(serde_json::to_vec(&layer.pin).expect("text can be written as JSON"));
        }
        format!("{:x}", hasher.finalize())
    }

    /// Whether `import name` finds something in what was installed for the bundle.
    fn provides(&self, name: &str) -> bool {
        self.layers.iter().any(|layer| layer.packages.contains(name))
    }

    /// `timm/layers/drop.py:161` for a line of the bundle that comes from there.
    fn upstream_place(&self, line: u32) -> Option<String> {
        let span = self.line_map.iter().find(|span| (span.bundle_start..=span.bundle_end).contains(&line))?;
        Some(format!("{}:{}", span.path, span.upstream_start + (line - span.bundle_start)))
    }
}
