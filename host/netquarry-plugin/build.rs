//! Builds the first-party components, so that no WebAssembly is committed, and writes the list of them that
//! `src/first_party.rs` includes.

use std::env;
use std::error::Error;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

#[path = "src/api_version.rs"]
#[expect(dead_code, unreachable_pub, reason = "it is a public module of the host, which reads what is written here")]
mod api_version;
#[path = "src/encode.rs"]
#[expect(unreachable_pub, reason = "it is a public module of the host, which builds plugins of others so")]
mod encode;
#[path = "src/sections.rs"]
mod sections;

const TARGET: &str = "wasm32-unknown-unknown";
const PROFILE: &str = "component";

/// Crates in `plugins/` that start so are components; the others are libraries of theirs.
const KINDS: [&str; 4] = ["discover-", "shim-", "dedup-", "emit-"];

type Failure = Box<dyn Error>;

fn main() {
    match build() {
        Ok(inputs) => inputs.iter().for_each(|input| println!("cargo::rerun-if-changed={}", input.display())),
        Err(failure) => println!("cargo::error={failure}"),
    }
}

/// Returns the files and folders that the components are made of.
fn build() -> Result<Vec<PathBuf>, Failure> {
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR for build scripts")?);
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").ok_or("cargo sets CARGO_MANIFEST_DIR")?);
    let root = manifest.ancestors().nth(2).ok_or("the crate lies two folders below the root")?;

    ensure_target()?;
    let names = component_crates(&root.join("plugins"))?;
    let guests = out.join("guests");
    compile(root, &guests, &names)?;
    let modules = guests.join(TARGET).join(PROFILE);
    let mut components = Vec::new();
    for name in names {
        let module = fs::read(modules.join(format!("{}.wasm", name.replace('-', "_"))))?;
        let component = encode::component(&module)?;
        let path = out.join(format!("{name}.wasm"));
        fs::write(&path, &component)?;
        components.push(Built { name, path, sha256: hexadecimal(&Sha256::digest(&component)), size: component.len() });
    }
    fs::write(out.join("first_party.rs"), embedding(&components)?)?;
    fs::write(out.join("registry.json"), registry(&root.join("registry.json"), &components)?)?;

    let sdk = ["sdk/rust/src", "sdk/rust/Cargo.toml"];
    let inputs = ["plugins", "wit", "registry.json", "Cargo.toml", "Cargo.lock", "rust-toolchain.toml"];
    let own = ["build.rs", "src/api_version.rs", "src/encode.rs", "src/sections.rs"];
    Ok(inputs
        .into_iter()
        .chain(sdk)
        .map(|input| root.join(input))
        .chain(own.map(|input| manifest.join(input)))
        .collect())
}

struct Built {
    name: String,
    path: PathBuf,
    sha256: String,
    size: usize,
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

/// The toolchain file names the target, but where rustup does not install by itself (`RUSTUP_AUTO_INSTALL=0`) that has
/// no effect.
fn ensure_target() -> Result<(), Failure> {
    let installed = || -> Result<bool, Failure> {
        let output = Command::new(rustc()).args(["--print", "target-libdir", "--target", TARGET]).output()?;
        Ok(Path::new(str::from_utf8(&output.stdout)?.trim()).is_dir())
    };
    if installed()? {
        return Ok(());
    }
    let added = Command::new("rustup").args(["target", "add", TARGET]).output();
    if added.is_ok_and(|output| output.status.success()) && installed()? {
        return Ok(());
    }
    Err(format!("the target {TARGET} is not installed: run `rustup target add {TARGET}`").into())
}

fn rustc() -> OsString {
    env::var_os("RUSTC").unwrap_or_else(|| "rustc".into())
}

/// Runs cargo in a target folder of its own. Neither flags nor wrappers of the outer build reach it, and the paths of
/// this machine are kept out of the modules, so that the same source gives the same bytes.
fn compile(root: &Path, guests: &Path, names: &[String]) -> Result<(), Failure> {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(belongs_to_outer_build) {
            cargo.env_remove(name);
        }
    }
    cargo.env("CARGO_ENCODED_RUSTFLAGS", remapped_paths(root)?);
    cargo.current_dir(root).args(["build", "--locked", "--target", TARGET, "--profile", PROFILE, "--target-dir"]);
    cargo.arg(guests);
    for name in names {
        cargo.args(["--package", name]);
    }
    let output = cargo.output()?;
    if output.status.success() {
        return Ok(());
    }
    let mut message = String::from("the first-party components do not build:");
    for line in String::from_utf8_lossy(&output.stderr).lines() {
        // Every line of an error needs the prefix of its own to get through to the user.
        write!(message, "\ncargo::error={line}")?;
    }
    Err(message.into())
}

fn belongs_to_outer_build(variable: &str) -> bool {
    const NAMES: [&str; 16] = [
        "CARGO_ENCODED_RUSTFLAGS",
        "CARGO_INCREMENTAL",
        "DEBUG",
        "HOST",
        "NUM_JOBS",
        "OPT_LEVEL",
        "OUT_DIR",
        "PROFILE",
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

/// Flags separated by `\x1f`, as `CARGO_ENCODED_RUSTFLAGS` has them.
fn remapped_paths(root: &Path) -> Result<OsString, Failure> {
    let home = match (env::var_os("CARGO_HOME"), env::var_os("HOME")) {
        (Some(cargo_home), _) => Some(PathBuf::from(cargo_home)),
        (None, Some(home)) => Some(Path::new(&home).join(".cargo")),
        (None, None) => None,
    };
    let sysroot = Command::new(rustc()).args(["--print", "sysroot"]).output()?;
    let sysroot = PathBuf::from(str::from_utf8(&sysroot.stdout)?.trim());
    let mut flags = OsString::new();
    let mappings = [(home, "/cargo"), (Some(sysroot), "/rust"), (Some(root.to_owned()), "/netquarry")];
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

/// A Rust expression of the type `&[EmbeddedComponent]`.
fn embedding(components: &[Built]) -> Result<String, Failure> {
    let mut source = String::from("&[\n");
    for Built { name, path, .. } in components {
        let path = path.to_str().ok_or("the path of the build is not UTF-8")?;
        writeln!(source, "    EmbeddedComponent {{ name: {name:?}, bytes: include_bytes!({path:?}) }},")?;
    }
    source.push_str("]\n");
    Ok(source)
}

/// The first-party registry with the digests and sizes of what has just been built.
fn registry(path: &Path, components: &[Built]) -> Result<String, Failure> {
    let mut registry: serde_json::Value = serde_json::from_str(&fs::read_to_string(path)?)?;
    for Built { name, sha256, size, .. } in components {
        let versions = registry["plugins"][name]["versions"].as_array_mut();
        let newest = versions.and_then(|versions| versions.last_mut());
        let newest = newest.ok_or_else(|| format!("registry.json has no version of {name}"))?;
        newest["sha256"] = sha256.as_str().into();
        newest["size"] = (*size).into();
    }
    Ok(serde_json::to_string_pretty(&registry)? + "\n")
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes everything");
        text
    })
}
