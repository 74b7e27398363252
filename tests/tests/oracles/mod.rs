//! NetQuarry's reading of Python, compared with CPython's and with the reference's; and the names that it gives to things.

mod nn_dup;
mod swhid;
mod syntax;

use std::path::{Path, PathBuf};
use std::process::Command;

/// More folders to compare, separated as in `PATH`.
const FOLDERS: &str = "NETQUARRY_ORACLE_FOLDERS";

fn standard_library(python: &Path) -> PathBuf {
    let code = "import sysconfig, sys; sys.stdout.write(sysconfig.get_path('stdlib'))";
    let output = Command::new(python).args(["-I", "-c", code]).output().expect("there is a Python");
    String::from_utf8(output.stdout).expect("paths are UTF-8").into()
}
