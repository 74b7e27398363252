//! From requirements to the distributions that they come to, at fixed versions. pip decides, with its own settings; what
//! the environment has is there already and stays as it is.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use pep440_rs::Version;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::install::io_error;
use super::pip::{self, Outcome};
use super::{Environment, EnvironmentError};
use crate::interrupt;

const LAUNCHER: &str = include_str!("pip_launcher.py");

/// A distribution at one version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Pin {
    /// As its metadata has it.
    pub name: String,
    pub version: String,
    /// Of the wheel; `None` where the index states none.
    pub sha256: Option<String>,
}

/// Why something cannot be installed, in the words of the user's world; completes "... cannot be installed: ".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    pub reason: String,
    /// The answer will be the same for as long as the index has nothing new.
    pub is_lasting: bool,
}

impl Refusal {
    pub(super) fn passing(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), is_lasting: false }
    }
}

/// What an index answered, as it is kept.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    requirements: Vec<String>,
    answer: Result<Vec<Pin>, Refusal>,
}

/// Whether this is a name, with or without versions and extras: no address, no path and no option of pip's. With an
/// address pip would build what lies there, which runs code of it.
pub(super) fn names_a_distribution(requirement: &str) -> bool {
    let parsed = pep508_rs::Requirement::<pep508_rs::VerbatimUrl>::from_str(requirement);
    parsed.is_ok_and(|parsed| !matches!(parsed.version_or_url, Some(pep508_rs::VersionOrUrl::Url(_))))
}

/// Where the answer to these requirements is kept. They come to something else beside another environment.
pub(super) fn place(folder: &Path, environment: &Environment, requirements: &[String]) -> PathBuf {
    let question = format!("{}\n{}", environment.digest(), requirements.join("\n"));
    folder.join("resolutions").join(format!("{:x}.json", Sha256::digest(question)))
}

/// The answer that was kept; `None` where there is none, or a torn one.
pub(super) fn kept(place: &Path) -> Option<Result<Vec<Pin>, Refusal>> {
    let kept: Kept = serde_json::from_slice(&fs::read(place).ok()?).ok()?;
    Some(kept.answer)
}

/// Keeps an answer that will last.
pub(super) fn keep(
    place: &Path,
    requirements: &[String],
    answer: &Result<Vec<Pin>, Refusal>,
) -> Result<(), EnvironmentError> {
    if answer.as_ref().is_err_and(|refusal| !refusal.is_lasting) {
        return Ok(());
    }
    let kept = Kept { requirements: requirements.to_vec(), answer: answer.clone() };
    let text = serde_json::to_vec(&kept).expect("names and versions are plain text");
    let folder = place.parent().expect("an answer lies in a folder");
    let write = || {
        fs::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(&text)?;
        file.persist(place)?;
        Ok(())
    };
    write().map_err(|source| io_error("write", place, source))
}

/// Asks pip. Nothing is installed, and of most wheels only the metadata is transferred.
pub(super) fn ask(
    environment: &Environment,
    requirements: &[String],
    lock: &File,
) -> Result<Result<Vec<Pin>, Refusal>, EnvironmentError> {
    let folder = tempfile::tempdir().map_err(|source| io_error("make a folder in", &std::env::temp_dir(), source))?;
    let constraints = folder.path().join("constraints.txt");
    fs::write(&constraints, present(environment)).map_err(|source| io_error("write", &constraints, source))?;
    let report = folder.path().join("report.json");
    let (constraints, report_path) = (constraints.to_string_lossy(), report.to_string_lossy());
    let mut arguments = vec!["install", "--dry-run", "--report", &report_path, "--constraint", &constraints, "--"];
    arguments.extend(requirements.iter().map(String::as_str));
    match run(environment, &arguments, lock)? {
        Outcome::Done => Ok(read(&report)),
        Outcome::Failed { output } => Ok(Err(refusal(&output)?)),
    }
}

/// Runs pip for wheels only.
pub(super) fn run(environment: &Environment, arguments: &[&str], lock: &File) -> Result<Outcome, EnvironmentError> {
    let (command, rest) = arguments.split_first().expect("pip has a command");
    let mut all = vec!["-I", "-c", LAUNCHER, command];
    // A user's own place for packages is none of ours.
    all.push("--no-user");
    all.extend(["--no-input", "--disable-pip-version-check", "--only-binary", ":all:", "--progress-bar", "off"]);
    all.extend(rest);
    pip::run(&environment.python, &all, &[], lock, &|_| {}, interrupt::flag())
}

/// What the environment has, as constraints: torch and all that it was installed with stay as they are. A version that
/// follows no standard cannot be written as one.
fn present(environment: &Environment) -> String {
    let lines = environment.distributions.iter().filter(|(_, version)| Version::from_str(version).is_ok());
    lines.map(|(name, version)| format!("{name}=={version}\n")).collect()
}

#[derive(Deserialize)]
struct Report {
    install: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    metadata: Metadata,
    download_info: Download,
}

#[derive(Deserialize)]
struct Metadata {
    name: String,
    version: String,
}

#[derive(Deserialize)]
struct Download {
    #[serde(default)]
    archive_info: Archive,
}

#[derive(Default, Deserialize)]
struct Archive {
    /// `sha256=...`
    hash: Option<String>,
}

fn read(report: &Path) -> Result<Vec<Pin>, Refusal> {
    let text = fs::read(report).map_err(|error| Refusal::passing(format!("pip left no report: {error}")))?;
    let report: Report =
        serde_json::from_slice(&text).map_err(|error| Refusal::passing(format!("pip's report is odd: {error}")))?;
    let pin = |item: Item| Pin {
        sha256: item.download_info.archive_info.hash.and_then(|hash| hash.strip_prefix("sha256=").map(str::to_owned)),
        name: item.metadata.name,
        version: item.metadata.version,
    };
    let mut pins: Vec<Pin> = report.install.into_iter().map(pin).collect();
    pins.sort();
    Ok(pins)
}

/// Why pip failed.
///
/// # Errors
/// It was interrupted.
pub(super) fn refusal(output: &str) -> Result<Refusal, EnvironmentError> {
    let reason = match pip::explain(output, Path::new(""), &[]) {
        EnvironmentError::Interrupted => return Err(EnvironmentError::Interrupted),
        EnvironmentError::NoNetwork { .. } => return Ok(Refusal::passing("pip could not reach a package index")),
        EnvironmentError::DiskFull { .. } => return Ok(Refusal::passing("the disk is full")),
        _ => output,
    };
    let errors = || reason.lines().filter_map(|line| line.trim().strip_prefix("ERROR: "));
    if errors().any(|line| line.contains("(from versions: none)")) {
        let reason = "the index has no wheel of it for this Python".to_owned();
        return Ok(Refusal { reason, is_lasting: true });
    }
    if reason.contains("The conflict is caused by:") {
        return Ok(Refusal { reason: conflict(reason), is_lasting: true });
    }
    let first = errors().next().or_else(|| reason.lines().rfind(|line| !line.trim().is_empty()));
    let is_lasting = errors().any(|line| line.starts_with("No matching distribution found"));
    let reason = first.map_or_else(|| "pip says nothing".to_owned(), |line| format!("pip: {}", line.trim()));
    Ok(Refusal { reason, is_lasting })
}

/// `it does not go with what is there: a 1.0 depends on numpy<2; The user requested (constraint) numpy==2.4.6`
fn conflict(output: &str) -> String {
    let (_, causes) = output.split_once("The conflict is caused by:").expect("it was looked for");
    let causes: Vec<&str> = causes.lines().map(str::trim).skip_while(|line| line.is_empty()).collect();
    let end = causes.iter().position(|line| line.is_empty()).unwrap_or(causes.len());
    format!("its versions do not go with each other: {}", causes[..end].join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_and_versions_are_asked_for() {
        for good in ["numpy", "a[b]>1", "opencv-python!=4.13.0.90,>=4.7.0", "PyYAML==6.0.3"] {
            assert!(names_a_distribution(good), "{good}");
        }
        for bad in ["evil @ https://host/evil-1.0.tar.gz#==1.0", "--log=/tmp/x==1", "-r==1", "./local", "x==1 --pre"] {
            assert!(!names_a_distribution(bad), "{bad}");
        }
    }

    #[test]
    fn words_of_pip_become_reasons() {
        let cases = [
            (
                "ERROR: Could not find a version that satisfies the requirement x (from versions: none)\n\
                 ERROR: No matching distribution found for x",
                "the index has no wheel of it for this Python",
                true,
            ),
            (
                "ERROR: Could not find a version that satisfies the requirement x<1 (from versions: 1.0, 1.1)\n\
                 ERROR: No matching distribution found for x<1",
                "pip: Could not find a version that satisfies the requirement x<1 (from versions: 1.0, 1.1)",
                true,
            ),
            (
                "ERROR: Cannot install x\n\nThe conflict is caused by:\n    x 1.0 depends on numpy<2\n    \
                 The user requested (constraint) numpy==2.4.6\n\nTo fix this you could try to:\n1. loosen",
                "its versions do not go with each other: x 1.0 depends on numpy<2; The user requested (constraint) \
                 numpy==2.4.6",
                true,
            ),
            ("WARNING: Retrying\nNewConnectionError", "pip could not reach a package index", false),
            (
                "ModuleNotFoundError: No module named 'ensurepip'\n",
                "pip: ModuleNotFoundError: No module named 'ensurepip'",
                false,
            ),
        ];
        for (output, reason, is_lasting) in cases {
            let expected = Refusal { reason: reason.to_owned(), is_lasting };
            assert_eq!(refusal(output).expect("it was not interrupted"), expected);
        }
    }
}
