//! What Rust has to have to build components, and how the paths of a machine are kept out of them.
//!
//! `build.rs` includes this file too.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// What components are compiled for.
pub const TARGET: &str = "wasm32-unknown-unknown";

/// Why no component can be built.
#[derive(Debug, thiserror::Error)]
pub enum ToolchainError {
    #[error("cannot run `{}`: {error}; install Rust: https://rustup.rs", tool.display())]
    Missing { tool: PathBuf, error: io::Error },
    #[error("`{command}` fails in {}: {said}; `rustup show` says there which toolchain is used, and why", folder.display())]
    Failed { command: String, folder: PathBuf, said: String },
    #[error(
        "Rust has no target {TARGET} in {}, and rustup did not add it: {said}; run `rustup target add {TARGET}` there",
        folder.display()
    )]
    NoTarget { folder: PathBuf, said: String },
    #[error("cannot find {}: {error}; check the path", path.display())]
    NoFolder { path: PathBuf, error: io::Error },
}

/// Makes sure that `rustc`, as it is found in `folder`, compiles for [`TARGET`].
///
/// The toolchain file of a project may name the target, but where rustup does not install by itself
/// (`RUSTUP_AUTO_INSTALL=0`) that has no effect.
///
/// # Errors
///
/// Where it does not, and rustup cannot add the target.
pub fn ensure_target(rustc: &OsStr, folder: &Path) -> Result<(), ToolchainError> {
    ensure_target_by("rustup".as_ref(), rustc, folder)
}

fn ensure_target_by(rustup: &OsStr, rustc: &OsStr, folder: &Path) -> Result<(), ToolchainError> {
    let installed = || -> Result<bool, ToolchainError> {
        let libraries = said_by(rustc, folder, &["--print", "target-libdir", "--target", TARGET])?;
        Ok(Path::new(&libraries).is_dir())
    };
    if installed()? {
        return Ok(());
    }
    let said = match tool(rustup, folder).args(["target", "add", TARGET]).output() {
        Ok(output) if output.status.success() => match installed()? {
            true => return Ok(()),
            false => format!("it has added it to another toolchain than that of {}", rustc.display()),
        },
        Ok(output) => complaint(&output),
        Err(error) => format!("cannot run `{}`: {error}", rustup.display()),
    };
    Err(ToolchainError::NoTarget { folder: folder.to_owned(), said })
}

/// Flags of rustc by which a module has none of this machine's paths, so that the same source gives the same bytes: what
/// lies in `folder` is called `name`. Separated by `\x1f`, as `CARGO_ENCODED_RUSTFLAGS` has them.
///
/// # Errors
///
/// Where rustc does not run or does not know where it is, or there is no such folder.
pub fn remapped_paths(rustc: &OsStr, folder: &Path, name: &str) -> Result<OsString, ToolchainError> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| env::var_os("HOME").map(|home| Path::new(&home).join(".cargo")));
    let sysroot = PathBuf::from(said_by(rustc, folder, &["--print", "sysroot"])?);
    let missing = |error| ToolchainError::NoFolder { path: folder.to_owned(), error };
    let folder = fs::canonicalize(folder).map_err(missing)?;
    let mut flags = OsString::new();
    let mappings = [(home, "/cargo"), (Some(sysroot), "/rust"), (Some(folder), name)];
    for (from, to) in mappings.into_iter().filter_map(|(from, to)| Some((from?, to))) {
        if !flags.is_empty() {
            flags.push("\x1f");
        }
        flags.push("--remap-path-prefix=");
        flags.push(from);
        flags.push("=");
        flags.push(to);
    }
    Ok(flags)
}

/// What rustc answers, as one line that is not empty.
fn said_by(rustc: &OsStr, folder: &Path, arguments: &[&str]) -> Result<String, ToolchainError> {
    let output = tool(rustc, folder).args(arguments).output().map_err(|error| match fs::metadata(folder) {
        Ok(_) => ToolchainError::Missing { tool: PathBuf::from(rustc), error },
        // A program cannot be run in a folder that is not there, which reads as if the program were not.
        Err(error) => ToolchainError::NoFolder { path: folder.to_owned(), error },
    })?;
    let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if output.status.success() && !said.is_empty() {
        return Ok(said);
    }
    let command = format!("{} {}", rustc.display(), arguments.join(" "));
    Err(ToolchainError::Failed { command, folder: folder.to_owned(), said: complaint(&output) })
}

/// What a program that failed has said, or how it ended where it has said nothing.
fn complaint(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    if said.is_empty() { format!("it says nothing ({})", output.status) } else { said }
}

fn tool(name: &OsStr, folder: &Path) -> Command {
    let mut command = Command::new(name);
    command.current_dir(folder).stdin(Stdio::null());
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stand-ins for rustc: programs that every Unix has.
    #[test]
    fn a_toolchain_that_does_not_work_is_told() {
        let here = env::temp_dir();
        let nowhere = here.join("netquarry-no-such-folder");
        let cases = [
            ("false", &here, "` fails in", "it says nothing (exit status: 1)"),
            ("true", &here, "` fails in", "it says nothing (exit status: 0)"),
            (
                "netquarry-no-such-tool",
                &here,
                "cannot run `netquarry-no-such-tool`: ",
                "install Rust: https://rustup.rs",
            ),
            ("true", &nowhere, "cannot find ", "check the path"),
        ];
        for (rustc, folder, what, further) in cases {
            for error in [
                ensure_target_by("false".as_ref(), rustc.as_ref(), folder).expect_err(rustc),
                remapped_paths(rustc.as_ref(), folder, "/plugin").map(|_| ()).expect_err(rustc),
            ] {
                let told = error.to_string();
                assert!(told.contains(what) && told.contains(further), "{rustc}: {told}");
            }
        }
    }

    #[test]
    fn a_target_that_cannot_be_added_is_told() {
        let cases = [
            ("false", "it says nothing (exit status: 1)"),
            ("true", "it has added it to another toolchain than that of echo"),
            ("netquarry-no-such-tool", "cannot run `netquarry-no-such-tool`: "),
        ];
        for (rustup, said) in cases {
            // What it prints is the path of no folder.
            let error = ensure_target_by(rustup.as_ref(), "echo".as_ref(), &env::temp_dir()).expect_err(rustup);
            let told = error.to_string();
            assert!(
                told.contains(said) && told.contains("run `rustup target add wasm32-unknown-unknown` there"),
                "{told}"
            );
        }
    }
}
