//! From the sources of the first-party plugins to their components.
//!
//! `build.rs` includes this file, and so does the test that builds them a second time.

use std::env;
use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::encode;
use crate::toolchain::{self, TARGET};

const PROFILE: &str = "component";

/// Crates in `plugins/` that start so are components; the others are libraries of theirs.
const KINDS: [&str; 4] = ["discover-", "shim-", "dedup-", "emit-"];

pub(crate) type Failure = Box<dyn Error>;

/// A component that was built.
pub(crate) struct Component {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

/// The components of the repository in `root`, sorted by name. What cargo makes is kept in `target`, its modules in
/// `wasm32-unknown-unknown/component` there.
pub(crate) fn components(root: &Path, target: &Path) -> Result<Vec<Component>, Failure> {
    toolchain::ensure_target(&rustc(), root)?;
    let names = component_crates(&root.join("plugins"))?;
    compile(root, target, &names)?;
    let modules = target.join(TARGET).join(PROFILE);
    let component = |name: String| -> Result<Component, Failure> {
        let module = fs::read(modules.join(format!("{}.wasm", name.replace('-', "_"))))?;
        Ok(Component { bytes: encode::component(&module)?, name })
    };
    names.into_iter().map(component).collect()
}

/// The names of the crates that are components, sorted.
fn component_crates(plugins: &Path) -> Result<Vec<String>, Failure> {
    let mut names = Vec::new();
    for entry in fs::read_dir(plugins)? {
        let entry = entry?;
        let name = entry.file_name().into_string().map_err(|name| format!("{} is not UTF-8", name.display()))?;
        if KINDS.iter().any(|kind| name.starts_with(kind)) && entry.path().join("Cargo.toml").is_file() {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

fn rustc() -> OsString {
    env::var_os("RUSTC").unwrap_or_else(|| "rustc".into())
}

/// Runs cargo in a target folder of its own. Neither flags nor wrappers of the outer build reach it.
fn compile(root: &Path, target: &Path, names: &[String]) -> Result<(), Failure> {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(belongs_to_outer_build) {
            cargo.env_remove(name);
        }
    }
    cargo.env("CARGO_ENCODED_RUSTFLAGS", toolchain::remapped_paths(&rustc(), root, "/netquarry")?);
    cargo.current_dir(root).args(["build", "--locked", "--target", TARGET, "--profile", PROFILE, "--target-dir"]);
    cargo.arg(target);
    for name in names {
        cargo.args(["--package", name]);
    }
    let output = cargo.output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("the first-party components do not build:\n{}", String::from_utf8_lossy(&output.stderr)).into())
}

fn belongs_to_outer_build(variable: &str) -> bool {
    const NAMES: [&str; 17] = [
        "CARGO_ENCODED_RUSTFLAGS",
        "CARGO_INCREMENTAL",
        "DEBUG",
        "HOST",
        "NUM_JOBS",
        "OPT_LEVEL",
        "OUT_DIR",
        "PROFILE",
        "RUSTC_BOOTSTRAP",
        "RUSTC_LINKER",
        "RUSTC_WORKSPACE_WRAPPER",
        "RUSTC_WRAPPER",
        "RUSTDOC",
        "RUSTDOCFLAGS",
        "RUSTFLAGS",
        "TARGET",
        "__CARGO_DEFAULT_LIB_METADATA",
    ];
    const PREFIXES: [&str; 8] = [
        "CARGO_BIN_",
        "CARGO_BUILD_",
        "CARGO_CFG_",
        "CARGO_FEATURE_",
        "CARGO_MANIFEST_",
        "CARGO_PKG_",
        "CARGO_PROFILE_",
        "CARGO_TARGET_",
    ];
    NAMES.contains(&variable) || PREFIXES.iter().any(|prefix| variable.starts_with(prefix))
}
