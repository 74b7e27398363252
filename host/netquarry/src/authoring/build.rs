//! From the source of a plugin to its component.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use netquarry_plugin::encode;
use serde::Deserialize;

use super::componentize;
use super::project::{Language, Project};
use super::sdk;
use crate::console::Console;
use crate::problem::Problem;

const TARGET: &str = "wasm32-unknown-unknown";

/// Builds the component and puts it where [`Project::component`] says; what the compiler says goes to standard error.
/// `cache_dir` keeps what building from Python needs.
pub fn build(project: &Project, cache_dir: &Path, offline: bool, console: &Console) -> Result<PathBuf, Problem> {
    let component = match project.language {
        Language::Rust => encoded(&rust_module(project, offline, console)?)?,
        Language::Python => componentize::component(project, cache_dir, offline, console)?,
    };
    let path = project.component();
    sdk::write_file(&path, &component)?;
    Ok(path)
}

fn encoded(module: &Path) -> Result<Vec<u8>, Problem> {
    let bytes = fs::read(module).map_err(|error| Problem::io("read", module, error))?;
    encode::component(&bytes).map_err(|error| {
        Problem::new(format!("`{}` cannot be made a component", module.display()))
            .because(error)
            .help("has the crate the line `netquarry_sdk::export!(Plugin as Kind)`, once?")
    })
}

/// A line of what cargo says with `--message-format json`.
#[derive(Deserialize)]
struct Message {
    reason: String,
    target: Option<BuiltTarget>,
    #[serde(default)]
    filenames: Vec<PathBuf>,
}

#[derive(Deserialize)]
struct BuiltTarget {
    crate_types: Vec<String>,
}

fn rust_module(project: &Project, offline: bool, console: &Console) -> Result<PathBuf, Problem> {
    let manifest = project.folder.join("Cargo.toml");
    ensure_target(&project.folder)?;
    console.status("Building", &format!("{} with cargo", project.name));
    let mut cargo = tool("cargo", &project.folder);
    cargo.args(["build", "--lib", "--release", "--target", TARGET, "--message-format", "json-render-diagnostics"]);
    if offline {
        cargo.arg("--offline");
    }
    cargo.env("CARGO_ENCODED_RUSTFLAGS", remapped_paths(&project.folder)?).stderr(Stdio::inherit());
    let output = cargo.output().map_err(|error| missing("cargo", error))?;
    if !output.status.success() {
        return Err(Problem::new(format!("`{}` does not build", manifest.display())).help("cargo has said above why"));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let messages = text.lines().filter_map(|line| serde_json::from_str::<Message>(line).ok());
    let is_module = |message: &Message| {
        let types = message.target.iter().flat_map(|target| &target.crate_types);
        message.reason == "compiler-artifact" && types.into_iter().any(|kind| kind == "cdylib")
    };
    let files = messages.filter(is_module).flat_map(|message| message.filenames);
    let mut modules = files.filter(|file| file.extension().is_some_and(|ending| ending == "wasm"));
    let module = modules.next_back();
    module.ok_or_else(|| {
        Problem::new(format!("`{}` builds no module", manifest.display()))
            .help("a plugin's library has `crate-type = [\"cdylib\", \"rlib\"]`")
    })
}

/// As users of rustup have it; where it does not install targets by itself, it is asked to.
fn ensure_target(folder: &Path) -> Result<(), Problem> {
    let installed = || -> Result<bool, Problem> {
        let output = tool("rustc", folder).args(["--print", "target-libdir", "--target", TARGET]).output();
        let output = output.map_err(|error| missing("rustc", error))?;
        Ok(Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir())
    };
    if installed()? {
        return Ok(());
    }
    let added = tool("rustup", folder).args(["target", "add", TARGET]).output();
    if added.is_ok_and(|output| output.status.success()) && installed()? {
        return Ok(());
    }
    Err(Problem::new(format!("Rust has no target {TARGET} here")).help(format!("run `rustup target add {TARGET}`")))
}

fn tool(name: &str, folder: &Path) -> Command {
    let mut command = Command::new(name);
    command.current_dir(folder).stdin(Stdio::null());
    command
}

fn missing(tool: &str, error: std::io::Error) -> Problem {
    Problem::new(format!("Could not run `{tool}`")).because(error).help("install Rust: https://rustup.rs")
}

/// Flags that keep the paths of this machine out of the module, so that the same source gives the same bytes; separated as
/// `CARGO_ENCODED_RUSTFLAGS` has them.
fn remapped_paths(folder: &Path) -> Result<OsString, Problem> {
    let sysroot =
        tool("rustc", folder).args(["--print", "sysroot"]).output().map_err(|error| missing("rustc", error))?;
    let sysroot = PathBuf::from(String::from_utf8_lossy(&sysroot.stdout).trim());
    let folder = fs::canonicalize(folder).map_err(|error| Problem::io("find", folder, error))?;
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".cargo")));
    let mut flags = OsString::new();
    let mappings = [(home, "/cargo"), (Some(sysroot), "/rust"), (Some(folder), "/plugin")];
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
