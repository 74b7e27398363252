//! Every scope and every definition, compared with CPython.

mod nn_dup;

use std::path::{Path, PathBuf};
use std::process::Command;

use netquarry_tests::oracle::{Report, compare, python_files};

/// More folders to compare, separated as in `PATH`.
const FOLDERS: &str = "NETQUARRY_ORACLE_FOLDERS";

/// The interpreter whose semantics NetQuarry has.
fn python() -> PathBuf {
    "python3.11".into()
}

fn standard_library(python: &Path) -> PathBuf {
    let code = "import sysconfig, sys; sys.stdout.write(sysconfig.get_path('stdlib'))";
    let output = Command::new(python).args(["-I", "-c", code]).output().expect("there is a Python");
    String::from_utf8(output.stdout).expect("paths are UTF-8").into()
}

fn check(files: &[PathBuf]) -> Report {
    let scratch = tempfile::tempdir().expect("a temporary folder can be made");
    compare(&python(), files, scratch.path()).expect("the oracle answers")
}

fn assert_agrees(report: &Report) {
    let lines: Vec<_> = report
        .disagreements
        .iter()
        .map(|disagreement| {
            format!("{}: {}: {}", disagreement.path.display(), disagreement.check, disagreement.explanation)
        })
        .collect();
    assert!(lines.is_empty(), "{} disagreements of {:?}:\n{}", lines.len(), report.counts, lines.join("\n"));
}

#[test]
fn the_standard_library() {
    let folder = standard_library(&python());
    let mut files = python_files(&folder).expect("the standard library can be read");
    files.retain(|file| !file.components().any(|part| part.as_os_str() == "site-packages"));
    let report = check(&files);
    assert_agrees(&report);
}

#[test]
fn folders_of_the_environment() {
    let Some(folders) = std::env::var_os(FOLDERS) else {
        return;
    };
    let files: Vec<_> = std::env::split_paths(&folders)
        .flat_map(|folder| python_files(&folder).expect("the folder can be read"))
        .collect();
    let report = check(&files);
    assert_agrees(&report);
}
