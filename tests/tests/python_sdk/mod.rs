//! The tests of the Python SDK, which pytest runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use netquarry_tests::packages::python;

/// pytest, and what makes the bindings that records are compared with.
const TOOLS: [&str; 2] = ["pytest==9.2.0", "componentize-py==0.25.1"];

/// The interpreter of an environment with the tools, which is made once: tests start others, which need them too.
fn environment() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python-sdk");
    let python_there = folder.join("bin/python");
    let finished = folder.join(TOOLS.join("-"));
    if !finished.is_file() {
        run(Command::new(python()).args(["-m", "venv", "--clear"]).arg(&folder));
        run(Command::new(&python_there).args(["-m", "pip", "install", "--quiet"]).args(TOOLS));
        fs::write(finished, "").expect("the folder was made");
    }
    python_there
}

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let [said, complained] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
    assert!(output.status.success(), "{command:?}\n{said}\n{complained}");
}

#[test]
fn the_python_sdk_passes_its_tests() {
    let sdk = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sdk/python");
    let mut tests = Command::new(environment());
    run(tests.args(["-B", "-m", "pytest", "-q", "-p", "no:cacheprovider"]).current_dir(sdk));
}
