//! One warm Python process, its branches, and following one child of it from its start to its end.

use std::fs::{self, File};
use std::io::{self, IoSlice, Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use nix::sys::socket::{ControlMessage, MsgFlags, UnixAddr, sendmsg};

use super::follow::{self, Ends, Run, read_some};
use super::protocol::{self, ChildJob, Exception, Ready, Request, Settings, UpstreamSettings};
use super::scratch::Scratch;
use super::scrub::{Places, SCRATCH};
use super::{Limits, ValidateError};
use crate::environment::Environment;

/// How long a worker may take to import torch; a cold disk makes it slow.
const START: Duration = Duration::from_secs(180);

/// A process that is ready to fork. Dropping it ends it and all its children.
#[derive(Debug)]
pub(super) struct Worker {
    process: Process,
    control: Mutex<UnixStream>,
    /// Where the scratch folders of its children lie.
    pub(super) folder: PathBuf,
    /// What the process took once it was ready.
    pub(super) peak_bytes: u64,
}

#[derive(Debug)]
enum Process {
    Python(Child),
    /// Forked by another, which ends it when it is told to on this socket. The other lives on for as long.
    Branch {
        socket: UnixStream,
        _scratch: Scratch,
        _ground: Arc<Ground>,
        _of: Arc<Worker>,
    },
}

impl Process {
    /// The signal that ended it. It has closed its socket, so it ends any moment, or it lives on, and no signal did that.
    fn signal(&mut self) -> Option<i32> {
        let Self::Python(child) = self else { return None };
        for _ in 0..50 {
            match child.try_wait() {
                Ok(Some(status)) => return status.signal(),
                Ok(None) => thread::sleep(Duration::from_millis(10)),
                Err(_) => return None,
            }
        }
        None
    }
}

/// Where the branches of one upstream live, and all that they can touch.
#[derive(Debug)]
pub(super) struct Ground {
    /// For scratch folders: theirs, and those of their children.
    pub(super) folder: Scratch,
    /// None where the kernel has no Landlock.
    pub(super) ruleset: Option<OwnedFd>,
}

/// The worker cannot tell what became of the child: it died, or does not answer. No other child of it can be trusted to
/// be followed to its end.
#[derive(Debug)]
pub(super) struct WorkerLost(pub(super) io::Error);

/// Why a module is in no process of its own.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoBranch {
    #[error("importing it raises {}", .0.class)]
    NotImportable(Exception),
    #[error("it starts a thread, and no process that has one can fork safely")]
    Threads,
    #[error("its process ended, or did not get ready in time: {0}")]
    Lost(io::Error),
}

impl Worker {
    /// Starts Python and waits until it has imported torch. One that somebody kills before that is started once more.
    pub(super) fn start(
        environment: &Environment,
        folder: &Path,
        settings: &Settings<'_>,
    ) -> Result<Self, ValidateError> {
        match Self::start_once(environment, folder, settings) {
            Err(ValidateError::NotReady { signal: Some(signal), .. }) => {
                tracing::warn!(signal, "a Python worker was lost while it started");
                Self::start_once(environment, folder, settings)
            }
            started => started,
        }
    }

    fn start_once(environment: &Environment, folder: &Path, settings: &Settings<'_>) -> Result<Self, ValidateError> {
        let python = || environment.python.clone();
        let not_started = |source| ValidateError::NotStarted { python: python(), source };
        let (control, theirs) = UnixStream::pair().map_err(not_started)?;
        let errors = tempfile::NamedTempFile::new_in(folder).map_err(not_started)?;
        let process = command(environment, folder, theirs, errors.reopen().map_err(not_started)?).spawn();
        let process = Process::Python(process.map_err(not_started)?);
        let mut worker = Self { process, control: Mutex::new(control), folder: folder.to_owned(), peak_bytes: 0 };
        let ready = worker.send(settings).and_then(|()| worker.ready());
        let ready = ready.map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                ValidateError::NotReadyInTime { python: python(), seconds: START.as_secs() }
            }
            _ => {
                let (signal, output) = (worker.process.signal(), last_words(errors.path()));
                ValidateError::NotReady { python: python(), signal, output }
            }
        })?;
        if ready.threads != 1 {
            return Err(ValidateError::Threads { python: python(), threads: ready.threads });
        }
        worker.peak_bytes = ready.peak_bytes;
        Ok(worker)
    }

    /// A worker that is forked from this one and has `upstream` within reach.
    pub(super) fn reaching(
        self: &Arc<Self>,
        ground: &Arc<Ground>,
        upstream: UpstreamSettings<'_>,
    ) -> Result<Self, NoBranch> {
        self.branch(ground, Some(upstream), None)
    }

    /// A worker that is forked from this one and has imported `module`.
    pub(super) fn importing(self: &Arc<Self>, ground: &Arc<Ground>, module: &str) -> Result<Self, NoBranch> {
        self.branch(ground, None, Some(module))
    }

    fn branch(
        self: &Arc<Self>,
        ground: &Arc<Ground>,
        upstream: Option<UpstreamSettings<'_>>,
        module: Option<&str>,
    ) -> Result<Self, NoBranch> {
        let lost = NoBranch::Lost;
        let folder = ground.folder.path().to_owned();
        let scratch = Scratch::new(&folder).map_err(lost)?;
        let (control, their_control) = UnixStream::pair().map_err(lost)?;
        let request = Request::Branch { upstream, module, scratch: scratch.path() };
        let ruleset = ground.ruleset.as_ref().map(AsRawFd::as_raw_fd);
        let descriptors: Vec<_> = std::iter::once(their_control.as_raw_fd()).chain(ruleset).collect();
        let socket = self.ask(&request, &descriptors).map_err(lost)?;
        drop(their_control);
        let places = Places::new([(scratch.path().to_string_lossy().into_owned(), SCRATCH.to_owned())]);
        let process = Process::Branch { socket, _scratch: scratch, _ground: Arc::clone(ground), _of: Arc::clone(self) };
        let mut branch = Self { process, control: Mutex::new(control), folder, peak_bytes: 0 };
        let ready = branch.ready().map_err(lost)?;
        branch.peak_bytes = ready.peak_bytes;
        match ready.failure {
            Some(exception) => Err(NoBranch::NotImportable(exception.without_places(&places))),
            None if ready.threads != 1 => Err(NoBranch::Threads),
            None => Ok(branch),
        }
    }

    fn send(&mut self, settings: &Settings<'_>) -> io::Result<()> {
        self.control.get_mut().expect("nobody else holds the lock yet").write_all(&protocol::encode(settings))
    }

    fn ready(&mut self) -> io::Result<Ready> {
        let control = self.control.get_mut().expect("nobody else holds the lock yet");
        control.set_read_timeout(Some(START))?;
        let mut received = Vec::new();
        loop {
            match protocol::decode(&mut received) {
                Ok(Some(ready)) => return Ok(ready),
                Ok(None) => {}
                Err(protocol::Malformed) => return Err(io::ErrorKind::InvalidData.into()),
            }
            if !read_some(control, &mut received)? {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }

    /// Has a child forked for `job`, restricted to the ruleset, and follows it until it has ended, in time or by force.
    pub(super) fn run(
        &self,
        job: &ChildJob<'_>,
        ruleset: Option<BorrowedFd<'_>>,
        limits: &Limits,
    ) -> Result<Run, WorkerLost> {
        let ends = self.submit(job, ruleset).map_err(WorkerLost)?;
        follow::to_the_end(ends, job.token, limits).map_err(WorkerLost)
    }

    /// Hands the job over.
    fn submit<'a>(&self, job: &ChildJob<'a>, ruleset: Option<BorrowedFd<'_>>) -> io::Result<Ends<'a>> {
        let (report, their_report) = io::pipe()?;
        let (output, their_output) = io::pipe()?;
        let numbers = job.challenge.map(|challenge| io::pipe().map(|pipe| (pipe, challenge.numbers))).transpose()?;
        let graph = job.challenge.and_then(|challenge| challenge.graph);
        let named = [
            ("numbers", numbers.as_ref().map(|((theirs, _), _)| theirs.as_raw_fd())),
            ("graph", graph.map(AsRawFd::as_raw_fd)),
            ("ruleset", ruleset.map(|ruleset| ruleset.as_raw_fd())),
        ];
        let (names, further): (Vec<_>, Vec<_>) =
            named.into_iter().filter_map(|(name, descriptor)| Some((name, descriptor?))).unzip();
        let descriptors = [&[their_report.as_raw_fd(), their_output.as_raw_fd()], &further[..]].concat();
        let socket = self.ask(&Request::Job { job, descriptors: names }, &descriptors)?;
        let numbers = numbers.map(|((_, ours), numbers)| (ours, numbers));
        Ok(Ends { socket, report, output, numbers })
    }

    /// Sends a request with a socket on which the child's end is told, and ordered, and with further descriptors; our end
    /// of the socket comes back.
    fn ask(&self, request: &Request<'_>, descriptors: &[RawFd]) -> io::Result<UnixStream> {
        let (socket, their_socket) = UnixStream::pair()?;
        let message = protocol::encode(request);
        let descriptors = [&[their_socket.as_raw_fd()], descriptors].concat();
        let mut control = self.control.lock().expect("no thread panics while it writes");
        let rights = [ControlMessage::ScmRights(&descriptors)];
        let flags = MsgFlags::MSG_NOSIGNAL;
        let sent = sendmsg::<UnixAddr>(control.as_raw_fd(), &[IoSlice::new(&message)], &rights, flags, None)?;
        control.write_all(&message[sent..])?;
        Ok(socket)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // All of this fails only where the process has ended already. Its children end with it.
        match &mut self.process {
            Process::Python(process) => {
                let _ = process.kill();
                let _ = process.wait();
            }
            // The end of the stream is the order to kill, and it is told once nothing is left of the process.
            Process::Branch { socket, .. } => {
                let _ = socket.shutdown(Shutdown::Write);
                let _ = socket.set_read_timeout(Some(follow::GRACE));
                let _ = socket.read(&mut [0; 1]);
            }
        }
    }
}

/// Python with an environment that holds nothing of the user's: no settings, no paths, no credentials.
fn command(environment: &Environment, folder: &Path, control: UnixStream, errors: File) -> Command {
    let mut command = Command::new(&environment.python);
    command
        // Not -I, which would make Python overlook PYTHONHASHSEED with the rest of its variables.
        .args(["-s", "-P", "-B"])
        // Columns are for tracebacks that people read, and take half a megabyte of torch's modules.
        .args(["-X", "no_debug_ranges"])
        .arg(folder)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("LANG", "C.UTF-8")
        .env("HOME", folder)
        .env("PYTHONHASHSEED", "0")
        .env("PYTHONNOUSERSITE", "1")
        .env("OMP_NUM_THREADS", "1")
        .env("OPENBLAS_NUM_THREADS", "1")
        .env("MKL_NUM_THREADS", "1")
        .current_dir(folder)
        .stdin(Stdio::from(OwnedFd::from(control)))
        .stdout(Stdio::null())
        .stderr(errors)
        // An interrupt at the terminal is for the host, which ends its workers itself.
        .process_group(0);
    command
}

fn last_words(path: &Path) -> String {
    let text = fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(8)..].join("\n")
}
