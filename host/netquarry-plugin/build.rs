//! Builds the first-party components, so that no WebAssembly is committed, and writes the list of them that
//! `src/first_party.rs` includes.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use self::components::{Component, Failure};

#[path = "src/api_version.rs"]
#[expect(dead_code, unreachable_pub, reason = "it is a public module of the host, which reads what is written here")]
mod api_version;
#[path = "build/components.rs"]
mod components;
#[path = "src/encode.rs"]
#[expect(unreachable_pub, reason = "it is a public module of the host, which builds plugins of others so")]
mod encode;
#[path = "src/sections.rs"]
mod sections;
#[path = "src/toolchain.rs"]
#[expect(unreachable_pub, reason = "it is a public module of the host, which builds plugins of others so")]
mod toolchain;

/// The golden pack of a first-party plugin, in the folder of its source.
const GOLDEN: &str = "golden.json";

fn main() {
    match build() {
        Ok(inputs) => inputs.iter().for_each(|input| println!("cargo::rerun-if-changed={}", input.display())),
        // Every line of an error needs the prefix of its own to get through to the user.
        Err(failure) => failure.to_string().lines().for_each(|line| println!("cargo::error={line}")),
    }
}

/// Returns the files and folders that the components are made of.
fn build() -> Result<Vec<PathBuf>, Failure> {
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR for build scripts")?);
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").ok_or("cargo sets CARGO_MANIFEST_DIR")?);
    let root = manifest.ancestors().nth(2).ok_or("the crate lies two folders below the root")?;

    let components = components::components(root, &out.join("guests"))?;
    for Component { name, bytes } in &components {
        fs::write(out.join(format!("{name}.wasm")), bytes)?;
    }
    fs::write(out.join("first_party.rs"), embedding(&components, &out, &root.join("plugins"))?)?;
    fs::write(out.join("registry.json"), registry(&root.join("registry.json"), &components)?)?;

    let sdk = ["sdk/rust/src", "sdk/rust/Cargo.toml"];
    let inputs = ["plugins", "wit", "registry.json", "Cargo.toml", "Cargo.lock", "rust-toolchain.toml"];
    let own = ["build.rs", "build", "src/api_version.rs", "src/encode.rs", "src/sections.rs", "src/toolchain.rs"];
    Ok(inputs
        .into_iter()
        .chain(sdk)
        .map(|input| root.join(input))
        .chain(own.map(|input| manifest.join(input)))
        .collect())
}

/// A Rust expression of the type `&[EmbeddedComponent]`.
fn embedding(components: &[Component], out: &Path, plugins: &Path) -> Result<String, Failure> {
    let text = |path: PathBuf| path.into_os_string().into_string().map_err(|_| "the path of the build is not UTF-8");
    let mut source = String::from("&[\n");
    for Component { name, bytes } in components {
        let sha256 = hexadecimal(&Sha256::digest(bytes));
        let component = text(out.join(format!("{name}.wasm")))?;
        let golden = plugins.join(name).join(GOLDEN);
        let golden = match golden.is_file() {
            true => format!("Some(include_str!({:?}))", text(golden)?),
            false => "None".to_owned(),
        };
        writeln!(
            source,
            "    EmbeddedComponent {{ name: {name:?}, bytes: include_bytes!({component:?}), sha256: {sha256:?}, golden: \
             {golden} }},"
        )?;
    }
    source.push_str("]\n");
    Ok(source)
}

/// The first-party registry with the digests and sizes of what has just been built.
fn registry(path: &Path, components: &[Component]) -> Result<String, Failure> {
    let mut registry: serde_json::Value = serde_json::from_str(&fs::read_to_string(path)?)?;
    for Component { name, bytes } in components {
        let versions = registry["plugins"][name]["versions"].as_array_mut();
        let newest = versions.and_then(|versions| versions.last_mut());
        let newest = newest.ok_or_else(|| format!("registry.json has no version of {name}"))?;
        newest["sha256"] = hexadecimal(&Sha256::digest(bytes)).into();
        newest["size"] = bytes.len().into();
    }
    Ok(serde_json::to_string_pretty(&registry)? + "\n")
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes everything");
        text
    })
}
