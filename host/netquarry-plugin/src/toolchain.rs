//! What Rust has to have to build components, and how the paths of a machine are kept out of them.
//!
//! `build.rs` includes this file too.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What components are compiled for.
pub const TARGET: &str = "wasm32-unknown-unknown";

/// Why no component can be built.
#[derive(Debug, thiserror::Error)]
pub enum ToolchainError {
    #[error("cannot run `{}`: {error}; install Rust: https://rustup.rs", tool.display())]
    Missing { tool: PathBuf, error: io::Error },
    #[error("Rust has no target {TARGET} here: run `rustup target add {TARGET}`")]
    NoTarget,
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
    let installed = || -> Result<bool, ToolchainError> {
        let folder = said_by(rustc, folder, &["--print", "target-libdir", "--target", TARGET])?;
        Ok(Path::new(&folder).is_dir())
    };
    if installed()? {
        return Ok(());
    }
    let added = tool("rustup".as_ref(), folder).args(["target", "add", TARGET]).output();
    if added.is_ok_and(|output| output.status.success()) && installed()? {
        return Ok(());
    }
    Err(ToolchainError::NoTarget)
}

/// Flags of rustc by which a module has none of this machine's paths, so that the same source gives the same bytes: what
/// lies in `folder` is called `name`. Separated by `\x1f`, as `CARGO_ENCODED_RUSTFLAGS` has them.
///
/// # Errors
///
/// Where rustc does not run, or there is no such folder.
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

/// What rustc answers, as one line.
fn said_by(rustc: &OsStr, folder: &Path, arguments: &[&str]) -> Result<String, ToolchainError> {
    let output = tool(rustc, folder).args(arguments).output();
    let output = output.map_err(|error| ToolchainError::Missing { tool: PathBuf::from(rustc), error })?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn tool(name: &OsStr, folder: &Path) -> Command {
    let mut command = Command::new(name);
    command.current_dir(folder).stdin(Stdio::null());
    command
}
