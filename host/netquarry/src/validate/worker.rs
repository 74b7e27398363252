//! One warm Python process, and following one child of it from its start to its end.

use std::fs::{self, File};
use std::io::{self, IoSlice, PipeReader, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use nix::sys::socket::{ControlMessage, MsgFlags, UnixAddr, sendmsg};

use super::follow::{self, Run, read_some};
use super::protocol::{self, ChildJob, Ready, Settings};
use super::{Limits, ValidateError};
use crate::environment::Environment;

/// How long a worker may take to import torch; a cold disk makes it slow.
const START: Duration = Duration::from_secs(180);

/// A worker that is ready to fork. Dropping it ends it and all its children.
#[derive(Debug)]
pub(super) struct Worker {
    process: Child,
    control: Mutex<UnixStream>,
    /// What the process took after importing torch.
    pub(super) peak_bytes: u64,
    /// It has upstream's package, where it was to import one.
    pub(super) has_imported: bool,
}

/// The worker cannot tell what became of the child: it died, or does not answer. No other child of it can be trusted to
/// be followed to its end.
#[derive(Debug)]
pub(super) struct WorkerLost(pub(super) io::Error);

impl Worker {
    /// Starts Python and waits until it has imported torch.
    pub(super) fn start(
        environment: &Environment,
        folder: &Path,
        settings: &Settings<'_>,
    ) -> Result<Self, ValidateError> {
        let python = || environment.python.clone();
        let not_started = |source| ValidateError::NotStarted { python: python(), source };
        let (control, theirs) = UnixStream::pair().map_err(not_started)?;
        let errors = tempfile::NamedTempFile::new_in(folder).map_err(not_started)?;
        let process = command(environment, folder, theirs, errors.reopen().map_err(not_started)?).spawn();
        let mut worker = Self {
            process: process.map_err(not_started)?,
            control: Mutex::new(control),
            peak_bytes: 0,
            has_imported: false,
        };
        let ready = worker.greet(settings);
        let ready = ready.map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                ValidateError::NotReadyInTime { python: python(), seconds: START.as_secs() }
            }
            _ => ValidateError::NotReady { python: python(), output: last_words(errors.path()) },
        })?;
        if ready.threads != 1 {
            return Err(ValidateError::Threads { python: python(), threads: ready.threads });
        }
        worker.peak_bytes = ready.peak_bytes;
        worker.has_imported = ready.imported;
        Ok(worker)
    }

    fn greet(&mut self, settings: &Settings<'_>) -> io::Result<Ready> {
        let control = self.control.get_mut().expect("nobody else holds the lock yet");
        control.set_read_timeout(Some(START))?;
        control.write_all(&protocol::encode(settings))?;
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

    /// Has a child forked for `job` and follows it until it has ended, in time or by force.
    pub(super) fn run(&self, job: &ChildJob<'_>, limits: &Limits) -> Result<Run, WorkerLost> {
        let (socket, report, output) = self.submit(job).map_err(WorkerLost)?;
        follow::to_the_end(socket, report, output, job.token, limits).map_err(WorkerLost)
    }

    /// Hands the job over; our ends of the job's socket, of the report and of what the child prints come back.
    fn submit(&self, job: &ChildJob<'_>) -> io::Result<(UnixStream, PipeReader, PipeReader)> {
        let (socket, their_socket) = UnixStream::pair()?;
        let (report, their_report) = io::pipe()?;
        let (output, their_output) = io::pipe()?;
        let message = protocol::encode(job);
        let descriptors = [their_socket.as_raw_fd(), their_report.as_raw_fd(), their_output.as_raw_fd()];
        let mut control = self.control.lock().expect("no thread panics while it writes");
        let rights = [ControlMessage::ScmRights(&descriptors)];
        let flags = MsgFlags::MSG_NOSIGNAL;
        let sent = sendmsg::<UnixAddr>(control.as_raw_fd(), &[IoSlice::new(&message)], &rights, flags, None)?;
        control.write_all(&message[sent..])?;
        Ok((socket, report, output))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Both fail only where the process has ended already. Its children end with it.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Python with an environment that holds nothing of the user's: no settings, no paths, no credentials.
fn command(environment: &Environment, folder: &Path, control: UnixStream, errors: File) -> Command {
    let mut command = Command::new(&environment.python);
    command
        // Not -I, which would make Python overlook PYTHONHASHSEED with the rest of its variables.
        .args(["-s", "-P", "-B"])
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
