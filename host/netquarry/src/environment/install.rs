//! Making an environment of our own: a virtual environment with pinned torch, in the cache folder.
//!
//! The environment is complete exactly when its marker file is there and holds the digest of what was asked for; it is
//! written last, so whatever an interrupted installation left behind is recognised and made anew. A lock file keeps two
//! processes from making it at once. It is handed to pip as its standard input: should this process be killed, the lock
//! stays held for as long as pip still writes.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use sha2::{Digest, Sha256};

use super::pip::{self, Outcome, PipLine};
use super::{Environment, EnvironmentError, Origin, interpreter};

/// What is installed, wheels only. numpy and Pillow are what bundles may import beside torch.
const REQUIREMENTS: [&str; 4] = ["torch==2.15.0", "torchvision==0.29.2", "numpy==2.4.6", "pillow==13.0.0"];

/// The distributions that an environment of ours is made with.
pub fn distributions() -> impl Iterator<Item = &'static str> {
    REQUIREMENTS.iter().filter_map(|requirement| requirement.split("==").next())
}

/// What [`REQUIREMENTS`] take on disk, CUDA's libraries included: no wheel of torch on PyPI for Linux comes without.
const DISK_BYTES: u64 = 5_400_000_000;
/// What is downloaded, and kept in pip's cache besides.
const DOWNLOAD_BYTES: u64 = 3_100_000_000;

const MARKER: &str = "netquarry-environment.sha256";

/// An environment that has yet to be made.
#[derive(Clone, Debug)]
pub struct Installation {
    /// The interpreter that makes it.
    pub python: PathBuf,
    /// Where it will lie.
    pub folder: PathBuf,
}

/// What an installation is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Another process is at it.
    Waiting,
    CreatingFolder,
    /// pip looks for the named requirement.
    Resolving(String),
    /// A file, with its size as pip writes it.
    Downloading {
        file: String,
        size: String,
    },
    /// Everything is downloaded; the number of distributions that are being unpacked.
    Unpacking(usize),
    /// torch is imported for the first time.
    Checking,
}

/// An installation in a thread of its own. Dropping it interrupts the installation.
#[derive(Debug)]
pub struct Preparation {
    /// There until it is joined.
    thread: Option<JoinHandle<Result<Environment, EnvironmentError>>>,
    interrupted: Arc<AtomicBool>,
}

impl Preparation {
    /// Whether [`Preparation::wait`] would return at once.
    pub fn is_finished(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Asks the installation to stop; it ends within a fraction of a second, and the next one starts it anew.
    pub fn interrupt(&self) {
        self.interrupted.store(true, Ordering::Relaxed);
    }

    /// The environment, once it is made.
    ///
    /// # Errors
    /// As [`Installation::run`].
    pub fn wait(mut self) -> Result<Environment, EnvironmentError> {
        let thread = self.thread.take().expect("only this call, which happens once, takes it");
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl Drop for Preparation {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            self.interrupted.store(true, Ordering::Relaxed);
            // Nobody asks for its result any more.
            let _ = thread.join();
        }
    }
}

impl Installation {
    pub(super) fn new(python: PathBuf, cache: &Path) -> Self {
        Self { python, folder: folder_in(cache) }
    }

    /// What is made and what it costs, to print before it starts; completes "Preparing ...".
    pub fn cost(&self) -> String {
        format!(
            "a Python environment with torch at `{}`: {:.1} GB on disk, {:.1} GB to download; it takes minutes",
            self.folder.display(),
            DISK_BYTES as f64 / 1e9,
            DOWNLOAD_BYTES as f64 / 1e9,
        )
    }

    /// Makes the environment in a thread of its own.
    pub fn start(self, on_progress: impl Fn(Progress) + Send + 'static) -> Preparation {
        let interrupted = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&interrupted);
        let thread = thread::spawn(move || self.make(&on_progress, &flag));
        Preparation { thread: Some(thread), interrupted }
    }

    /// Makes the environment in this thread.
    ///
    /// # Errors
    /// No room, no network, or whatever Python and pip say.
    pub fn run(&self, on_progress: &dyn Fn(Progress)) -> Result<Environment, EnvironmentError> {
        self.make(on_progress, &AtomicBool::new(false))
    }

    fn make(&self, on_progress: &dyn Fn(Progress), interrupted: &AtomicBool) -> Result<Environment, EnvironmentError> {
        let cache = self.folder.parent().expect("the environment lies in the cache folder");
        fs::create_dir_all(cache).map_err(|source| io_error("create", cache, source))?;
        let lock = lock(&self.folder.with_extension("lock"), on_progress, interrupted)?;
        if let Some(environment) = complete(&self.folder) {
            return Ok(environment);
        }
        on_progress(Progress::CreatingFolder);
        if self.folder.exists() {
            fs::remove_dir_all(&self.folder).map_err(|source| io_error("remove", &self.folder, source))?;
        }
        require_room(cache)?;
        self.create_folder(&lock, interrupted)?;
        self.install(&lock, on_progress, interrupted)?;
        on_progress(Progress::Checking);
        self.check(&lock, interrupted)?;
        let marker = self.folder.join(MARKER);
        fs::write(&marker, requirements_digest()).map_err(|source| io_error("write", &marker, source))?;
        let python = interpreter_in(&self.folder);
        Environment::new(&python, interpreter::query(&python)?, Origin::Managed)
    }

    fn create_folder(&self, lock: &File, interrupted: &AtomicBool) -> Result<(), EnvironmentError> {
        let folder = self.folder.clone();
        match pip::run(&self.python, &["-I", "-m", "venv"], &[&folder], lock, &|_| {}, interrupted)? {
            Outcome::Done => Ok(()),
            Outcome::Failed { output } => {
                Err(EnvironmentError::Venv { folder, output: interpreter::last_lines(&output, 8) })
            }
        }
    }

    fn install(
        &self,
        lock: &File,
        on_progress: &dyn Fn(Progress),
        interrupted: &AtomicBool,
    ) -> Result<(), EnvironmentError> {
        let mut arguments = vec!["-I", "-m", "pip", "install", "--no-input", "--disable-pip-version-check"];
        arguments.extend(["--only-binary", ":all:", "--progress-bar", "off"]);
        arguments.extend(REQUIREMENTS);
        let on_line = |line: &str| match pip::read_line(line) {
            Some(PipLine::Collecting(requirement)) => on_progress(Progress::Resolving(requirement)),
            Some(PipLine::Downloading { file, size }) => on_progress(Progress::Downloading { file, size }),
            Some(PipLine::Installing(count)) => on_progress(Progress::Unpacking(count)),
            None => {}
        };
        match pip::run(&interpreter_in(&self.folder), &arguments, &[], lock, &on_line, interrupted)? {
            Outcome::Done => Ok(()),
            Outcome::Failed { output } => Err(pip::explain(&output, &self.folder, &REQUIREMENTS)),
        }
    }

    fn check(&self, lock: &File, interrupted: &AtomicBool) -> Result<(), EnvironmentError> {
        let arguments = ["-I", "-c", "import torch, torchvision, numpy, PIL.Image"];
        match pip::run(&interpreter_in(&self.folder), &arguments, &[], lock, &|_| {}, interrupted)? {
            Outcome::Done => Ok(()),
            Outcome::Failed { output } => {
                let output = interpreter::last_lines(&output, 8);
                Err(EnvironmentError::TorchBroken { folder: self.folder.clone(), output })
            }
        }
    }
}

/// The environment that an earlier run made in this cache folder, if it is complete and still works.
pub(super) fn existing(cache: &Path) -> Option<Environment> {
    complete(&folder_in(cache))
}

fn complete(folder: &Path) -> Option<Environment> {
    let marker = fs::read_to_string(folder.join(MARKER)).ok()?;
    if marker != requirements_digest() {
        return None;
    }
    // The interpreter that the environment was made with may have gone since: then it is made anew.
    let python = interpreter_in(folder);
    Environment::new(&python, interpreter::query(&python).ok()?, Origin::Managed).ok()
}

fn folder_in(cache: &Path) -> PathBuf {
    cache.join("environment")
}

fn interpreter_in(folder: &Path) -> PathBuf {
    folder.join("bin").join("python")
}

fn requirements_digest() -> String {
    format!("{:x}", Sha256::digest(REQUIREMENTS.join("\n")))
}

/// Waits until no other process holds the lock.
pub(super) fn lock(
    path: &Path,
    on_progress: &dyn Fn(Progress),
    interrupted: &AtomicBool,
) -> Result<File, EnvironmentError> {
    let file = File::options().create(true).append(true).read(true).open(path);
    let file = file.map_err(|source| io_error("open", path, source))?;
    let mut told = false;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(source)) => return Err(io_error("lock", path, source)),
            Err(TryLockError::WouldBlock) => {}
        }
        if interrupted.load(Ordering::Relaxed) {
            return Err(EnvironmentError::Interrupted);
        }
        if !told {
            on_progress(Progress::Waiting);
            told = true;
        }
        thread::sleep(Duration::from_millis(200));
    }
}

fn require_room(folder: &Path) -> Result<(), EnvironmentError> {
    let statistics = nix::sys::statvfs::statvfs(folder).map_err(|error| io_error("examine", folder, error.into()))?;
    let free = statistics.blocks_available() as u64 * statistics.fragment_size() as u64;
    if free >= DISK_BYTES {
        return Ok(());
    }
    Err(EnvironmentError::NoRoom { folder: folder.to_owned(), free_mib: free >> 20, needed_mib: DISK_BYTES >> 20 })
}

pub(super) fn io_error(action: &'static str, path: &Path, source: std::io::Error) -> EnvironmentError {
    EnvironmentError::Io { action, path: path.to_owned(), source }
}
