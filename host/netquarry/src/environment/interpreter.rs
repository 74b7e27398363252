//! Asking a Python interpreter about itself.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

use super::EnvironmentError;

const INTERROGATE: &str = include_str!("interrogate.py");

/// An interpreter's answer. One that is far too old tells its version and nothing else.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Interpreter {
    pub(super) version: String,
    pub(super) implementation: String,
    pub(super) prefixes: Vec<PathBuf>,
    pub(super) distributions: BTreeMap<String, String>,
    pub(super) packages: BTreeMap<String, Vec<String>>,
    pub(super) standard_library: BTreeSet<String>,
    pub(super) markers: BTreeMap<String, String>,
    pub(super) makes_environments: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PythonVersion {
    pub(super) major: u32,
    pub(super) minor: u32,
}

impl Interpreter {
    /// Major and minor version; 0.0 for an answer that is no version, which is too old for everything.
    pub(super) fn version(&self) -> PythonVersion {
        let mut numbers = self.version.split('.').map(|number| number.parse().unwrap_or(0));
        PythonVersion { major: numbers.next().unwrap_or(0), minor: numbers.next().unwrap_or(0) }
    }
}

/// The file of an interpreter that was named by a path, or by a bare name to be looked up in `path`, or by the folder
/// of a virtual environment. The path is absolute, since workers are started in another folder; symbolic links stay, by
/// which Python knows its environment.
pub(super) fn locate(named: &Path, path: &[PathBuf]) -> Result<PathBuf, EnvironmentError> {
    let found = if named.is_dir() {
        Some(named.join("bin").join("python")).filter(|python| python.is_file())
    } else if named.components().count() > 1 {
        Some(named.to_owned()).filter(|python| python.is_file())
    } else {
        path.iter().map(|folder| folder.join(named)).find(|python| python.is_file())
    };
    let absolute = found.and_then(|python| std::path::absolute(python).ok());
    absolute.ok_or_else(|| EnvironmentError::NotFound { python: named.to_owned() })
}

/// Starts the interpreter and asks. What it prints is nobody's business: the answer travels in a file of its own.
pub(super) fn query(python: &Path) -> Result<Interpreter, EnvironmentError> {
    let not_started = |source| EnvironmentError::NotStarted { python: python.to_owned(), source };
    let answer = tempfile::NamedTempFile::new().map_err(not_started)?;
    let output = Command::new(python)
        .args(["-I", "-B", "-c", INTERROGATE])
        .arg(answer.path())
        .stdin(Stdio::null())
        .output()
        .map_err(not_started)?;
    let text = std::fs::read_to_string(answer.path()).map_err(not_started)?;
    let interpreter: Interpreter = serde_json::from_str(&text).map_err(|_| EnvironmentError::NotPython {
        python: python.to_owned(),
        answer: said(&String::from_utf8_lossy(&output.stderr)),
    })?;
    if interpreter.implementation == "cpython" {
        return Ok(interpreter);
    }
    Err(EnvironmentError::NotPython {
        python: python.to_owned(),
        answer: format!(": it is {} {}, not CPython", interpreter.implementation, interpreter.version),
    })
}

/// What a program that is no interpreter said, as the end of a sentence. A line that is very long repeats the question.
fn said(errors: &str) -> String {
    const LONGEST: usize = 200;
    let lines = last_lines(errors, 3);
    let lines: Vec<&str> = lines.lines().filter(|line| line.len() <= LONGEST).collect();
    if lines.is_empty() { String::new() } else { format!(": {}", lines.join("\n")) }
}

/// The last `count` lines that say something.
pub(super) fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}
