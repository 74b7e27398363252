//! Distributions from PyPI for oracles, apart from every environment.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The interpreter whose semantics NetQuarry has, or else the one that there is.
pub fn python() -> PathBuf {
    let is_there =
        |python: &str| Command::new(python).arg("--version").output().is_ok_and(|output| output.status.success());
    let python = if is_there("python3.11") { "python3.11" } else { "python3" };
    python.into()
}

/// The folder below `target` into which these distributions, and nothing that they depend on, are unpacked; once for all
/// test runs. Nothing of them is installed anywhere else.
///
/// # Panics
/// They cannot be had.
pub fn unpacked(target: &Path, requirements: &[&str]) -> PathBuf {
    let folder = target.join(requirements.join("-").replace("==", "-"));
    if !folder.exists() {
        let scratch = tempfile::tempdir_in(target).expect("a temporary folder can be made");
        let mut pip = Command::new(python());
        pip.env("PIP_ROOT_USER_ACTION", "ignore");
        pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:", "--target"]);
        let status = pip.arg(scratch.path()).args(requirements).status().expect("there is a Python");
        assert!(status.success(), "pip cannot install {}: {status}", requirements.join(", "));
        // Another test may have been faster.
        if let Err(error) = fs::rename(scratch.path(), &folder) {
            assert!(folder.exists(), "{} cannot be kept: {error}", folder.display());
        }
    }
    folder
}
