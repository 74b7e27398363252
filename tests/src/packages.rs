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
    let install = ["install", "--no-deps", "--only-binary", ":all:", "--target"];
    made_by_pip(&python(), target, &folder, &install, requirements);
    folder
}

/// The folder of this name below `target` into which these distributions are installed for an interpreter with all that they
/// depend on, once for all test runs; their scripts lie in its folder `bin`.
///
/// # Panics
/// They cannot be had.
pub fn installed(python: &Path, target: &Path, name: &str, requirements: &[&str]) -> PathBuf {
    let folder = target.join(name);
    made_by_pip(python, target, &folder, &["install", "--only-binary", ":all:", "--target"], requirements);
    folder
}

/// The wheel of a distribution, in a folder below `target`.
///
/// # Panics
/// It cannot be had.
pub fn wheel(target: &Path, requirement: &str) -> PathBuf {
    let folder = target.join(format!("wheel-{}", requirement.replace("==", "-")));
    let download = ["download", "--no-deps", "--only-binary", ":all:", "--dest"];
    made_by_pip(&python(), target, &folder, &download, &[requirement]);
    let file = fs::read_dir(&folder).expect("pip made it").next().expect("pip downloaded the wheel");
    file.expect("the folder can be read").path()
}

/// Has pip fill a folder that is not there yet.
fn made_by_pip(python: &Path, target: &Path, folder: &Path, arguments: &[&str], requirements: &[&str]) {
    if folder.exists() {
        return;
    }
    let scratch = tempfile::tempdir_in(target).expect("a temporary folder can be made");
    let mut pip = Command::new(python);
    pip.env("PIP_ROOT_USER_ACTION", "ignore").args(["-m", "pip", "--quiet"]).args(arguments);
    let status = pip.arg(scratch.path()).args(requirements).status().expect("there is a Python");
    assert!(status.success(), "pip cannot get {}: {status}", requirements.join(", "));
    // Another test may have been faster.
    if let Err(error) = fs::rename(scratch.path(), folder) {
        assert!(folder.exists(), "{} cannot be kept: {error}", folder.display());
    }
}
