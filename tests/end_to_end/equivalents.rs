//! What a shim puts in the place of definitions does what they do.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::support::python;

/// What the definitions under test import, and nothing beside it.
const UPSTREAM: [&str; 4] = ["mmengine==0.10.7", "addict==2.4.0", "packaging==25.0", "six==1.17.0"];

#[test]
fn equivalents_of_openmmlab_s_definitions_do_what_upstream_s_do() {
    let folder = tempfile::tempdir().unwrap();
    let mut pip = Command::new(python());
    pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:", "--target"]);
    succeeds(pip.arg(folder.path()).args(UPSTREAM));
    succeeds(script("upstream.py").arg(folder.path()));
}

#[test]
fn torchvision_s_operators_compute_what_mmcv_s_do() {
    succeeds(&mut script("operators.py"));
}

/// A script of these tests, with the folder of the equivalents.
fn script(name: &str) -> Command {
    let root: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut command = Command::new(python());
    command.args(["-I", "-B"]).arg(root.join("tests/end_to_end/equivalents").join(name));
    command.arg(root.join("plugins/shim-mmlab/src/replacements"));
    command
}

#[track_caller]
fn succeeds(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
