//! From the source of a plugin to its component.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use netquarry_plugin::encode;
use netquarry_plugin::toolchain::{self, TARGET, ToolchainError};
use serde::Deserialize;

use super::componentize;
use super::project::{Language, Project};
use super::sdk;
use super::stamp::Stamp;
use crate::console::Console;
use crate::problem::Problem;

/// The compiler, as cargo finds it.
const RUSTC: &str = "rustc";

/// Builds the component and puts it where [`Project::component`] says; what the compiler says goes to standard error.
/// `cache_dir` keeps what building from Python needs.
pub fn build(project: &Project, cache_dir: &Path, offline: bool, console: &Console) -> Result<PathBuf, Problem> {
    let path = project.component();
    match project.language {
        // Cargo knows what it need not build again.
        Language::Rust => sdk::write_file(&path, &encoded(&rust_module(project, offline, console)?)?)?,
        Language::Python => {
            let stamp = Stamp::of(project, componentize::COMPONENTIZE);
            if stamp.as_ref().is_some_and(|stamp| stamp.fits(&path)) {
                console.status("Fresh", &format!("{}, as it was built before", project.name));
            } else {
                let component = componentize::component(project, cache_dir, offline, console)?;
                sdk::write_file(&path, &component)?;
                stamp.map_or(Ok(()), |stamp| stamp.keep(&component))?;
            }
        }
    }
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
    toolchain::ensure_target(RUSTC.as_ref(), &project.folder)?;
    console.status("Building", &format!("{} with cargo", project.name));
    let mut cargo = tool("cargo", &project.folder);
    cargo.args(["build", "--lib", "--release", "--target", TARGET, "--message-format", "json-render-diagnostics"]);
    if offline {
        cargo.arg("--offline");
    }
    let flags = toolchain::remapped_paths(RUSTC.as_ref(), &project.folder, "/plugin")?;
    cargo.env("CARGO_ENCODED_RUSTFLAGS", flags).stderr(Stdio::inherit());
    let output = cargo.output().map_err(|error| ToolchainError::Missing { tool: "cargo".into(), error })?;
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

fn tool(name: &str, folder: &Path) -> Command {
    let mut command = Command::new(name);
    command.current_dir(folder).stdin(Stdio::null());
    command
}
