//! Running Python's own tools, and understanding what pip prints.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use super::{EnvironmentError, interpreter};

pub(super) enum Outcome {
    Done,
    /// Everything that was printed, or its end where that is very much.
    Failed {
        output: String,
    },
}

/// A line of pip's output that tells how far it is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PipLine {
    Collecting(String),
    Downloading { file: String, size: String },
    Installing(usize),
}

/// Runs `python arguments paths` with `input` as its standard input, and hands every line of output on. The user's own
/// settings of pip (index, certificates, proxies) stay in force.
pub(super) fn run(
    python: &Path,
    arguments: &[&str],
    paths: &[&Path],
    input: &File,
    on_line: &dyn Fn(&str),
    interrupted: &AtomicBool,
) -> Result<Outcome, EnvironmentError> {
    let not_started = |source| EnvironmentError::NotStarted { python: python.to_owned(), source };
    let (output, errors) = std::io::pipe().map_err(not_started)?;
    let mut command = Command::new(python);
    command
        .args(arguments)
        .args(paths.iter().map(|path| OsStr::new(*path)))
        .stdin(input.try_clone().map_err(not_started)?)
        .stdout(errors.try_clone().map_err(not_started)?)
        .stderr(errors);
    let mut child = command.spawn().map_err(not_started)?;
    // The command holds the writing ends of the pipe; they have to go for the reader to see its end.
    drop(command);
    let printed = follow(&mut child, output, on_line, interrupted)?;
    let status = child.wait().map_err(not_started)?;
    if status.success() {
        return Ok(Outcome::Done);
    }
    match status.signal() {
        // Who stops the program may stop its children too, a moment earlier, which then say nothing about why.
        Some(_) if is_set_soon(interrupted) => Err(EnvironmentError::Interrupted),
        Some(signal) => Ok(Outcome::Failed { output: format!("{printed}the process was ended by signal {signal}") }),
        None => Ok(Outcome::Failed { output: printed }),
    }
}

fn is_set_soon(interrupted: &AtomicBool) -> bool {
    const MOMENTS: usize = 10;
    (0..MOMENTS).any(|_| {
        let is_set = interrupted.load(Ordering::Relaxed);
        if !is_set {
            thread::sleep(Duration::from_millis(100));
        }
        is_set
    })
}

/// Reads lines until the process has closed its output; everything printed comes back, up to a bound.
fn follow(
    child: &mut Child,
    output: impl Read + Send + 'static,
    on_line: &dyn Fn(&str),
    interrupted: &AtomicBool,
) -> Result<String, EnvironmentError> {
    const KEPT_BYTES: usize = 1 << 20;
    let (sender, lines) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(output).lines() {
            let Ok(line) = line else { break };
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    let mut printed = String::new();
    loop {
        match lines.recv_timeout(Duration::from_millis(100)) {
            Ok(line) => {
                on_line(&line);
                if printed.len() > KEPT_BYTES {
                    printed.clear();
                }
                printed.push_str(&line);
                printed.push('\n');
            }
            Err(RecvTimeoutError::Disconnected) => return Ok(printed),
            Err(RecvTimeoutError::Timeout) if interrupted.load(Ordering::Relaxed) => {
                // Both can only fail if the process has ended by itself, which is as good.
                let _ = child.kill();
                let _ = child.wait();
                return Err(EnvironmentError::Interrupted);
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// Reads `Collecting torch==2.15.0 (from ...)`, `Downloading torch-...whl (539.1 MB)` and
/// `Installing collected packages: a, b`.
pub(super) fn read_line(line: &str) -> Option<PipLine> {
    let line = line.trim();
    if let Some(requirement) = line.strip_prefix("Collecting ") {
        let requirement = requirement.split(" (from ").next().unwrap_or(requirement);
        return Some(PipLine::Collecting(requirement.to_owned()));
    }
    if let Some(packages) = line.strip_prefix("Installing collected packages: ") {
        return Some(PipLine::Installing(packages.split(", ").count()));
    }
    let download = line.strip_prefix("Downloading ").or_else(|| line.strip_prefix("Using cached "))?;
    let (file, size) = download.strip_suffix(')')?.rsplit_once(" (")?;
    // Some versions of pip print the whole address.
    let file = file.rsplit('/').next().unwrap_or(file);
    Some(PipLine::Downloading { file: file.to_owned(), size: size.to_owned() })
}

/// Why pip failed, from its last lines.
pub(super) fn explain(output: &str, folder: &Path, requirements: &[&str]) -> EnvironmentError {
    const NETWORK: [&str; 8] = [
        "NewConnectionError",
        "ConnectTimeoutError",
        "Failed to establish a new connection",
        "Temporary failure in name resolution",
        "Name or service not known",
        "Network is unreachable",
        "Max retries exceeded",
        "Read timed out",
    ];
    let network = NETWORK.iter().any(|sign| output.contains(sign));
    let full = output.contains("No space left on device");
    let output = interpreter::last_lines(output, 8);
    if output.contains("cancelled by user") || output.contains("KeyboardInterrupt") {
        return EnvironmentError::Interrupted;
    }
    if full {
        return EnvironmentError::DiskFull { folder: folder.to_owned(), output };
    }
    if network {
        return EnvironmentError::NoNetwork { output };
    }
    EnvironmentError::Pip { requirements: requirements.join(", "), output }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_read_from_pips_output() {
        let lines = [
            ("Collecting filelock (from torch==2.15.0)", Some(PipLine::Collecting("filelock".into()))),
            (
                "  Downloading torch-2.15.0-cp311-cp311-manylinux_2_28_x86_64.whl (539.1 MB)",
                Some(PipLine::Downloading {
                    file: "torch-2.15.0-cp311-cp311-manylinux_2_28_x86_64.whl".into(),
                    size: "539.1 MB".into(),
                }),
            ),
            (
                "  Using cached https://index/simple/numpy-2.4.6.whl (16.9 MB)",
                Some(PipLine::Downloading { file: "numpy-2.4.6.whl".into(), size: "16.9 MB".into() }),
            ),
            ("Installing collected packages: mpmath, sympy, torch", Some(PipLine::Installing(3))),
            ("Looking in links: /opt/wheels", None),
            ("", None),
        ];
        for (line, expected) in lines {
            assert_eq!(read_line(line), expected, "{line}");
        }
    }

    #[test]
    fn causes_of_failure_are_told_apart() {
        let explained = |output: &str| explain(output, Path::new("/cache/environment"), &["torch==2.15.0"]);
        assert!(matches!(
            explained("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device"),
            EnvironmentError::DiskFull { .. }
        ));
        assert!(matches!(
            explained(
                "WARNING: Retrying after connection broken by 'NewConnectionError(...)'\nERROR: No matching distribution"
            ),
            EnvironmentError::NoNetwork { .. }
        ));
        assert!(matches!(
            explained("ERROR: No matching distribution found for torch==2.15.0"),
            EnvironmentError::Pip { .. }
        ));
    }
}
