//! NetQuarry's reading of Python, compared with CPython's and with the reference's.

mod nn_dup;
mod syntax;

use std::path::{Path, PathBuf};
use std::process::Command;

/// More folders to compare, separated as in `PATH`.
const FOLDERS: &str = "NETQUARRY_ORACLE_FOLDERS";

/// The interpreter whose semantics NetQuarry has, or else the one that there is.
fn python() -> PathBuf {
    let is_there =
        |python: &str| Command::new(python).arg("--version").output().is_ok_and(|output| output.status.success());
    let python = if is_there("python3.11") { "python3.11" } else { "python3" };
    python.into()
}

fn standard_library(python: &Path) -> PathBuf {
    let code = "import sysconfig, sys; sys.stdout.write(sysconfig.get_path('stdlib'))";
    let output = Command::new(python).args(["-I", "-c", code]).output().expect("there is a Python");
    String::from_utf8(output.stdout).expect("paths are UTF-8").into()
}
