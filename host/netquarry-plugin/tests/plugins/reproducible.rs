//! The components are what their sources say: another folder, with another folder for what is built, gives the same bytes.

use std::fs;
use std::path::Path;

use netquarry_plugin::first_party;
use sha2::{Digest, Sha256};

use crate::components::{Component, components};

/// What cargo has to see of the repository to build the components from it: of the crates that are none of theirs it reads
/// the manifests, and whether their targets are there.
const SOURCES: [&str; 9] =
    ["Cargo.toml", "Cargo.lock", "rust-toolchain.toml", "wit", "plugins", "sdk/rust", "host", "tests", "registry.json"];

#[test]
fn the_same_sources_give_the_same_components() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let elsewhere = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a temporary folder can be made");
    let sources = elsewhere.path().join("sources");
    for name in SOURCES {
        copy(&root.join(name), &sources.join(name));
    }
    let built = components(&sources, &elsewhere.path().join("built")).unwrap_or_else(|failure| panic!("{failure}"));
    let digest = |bytes: &[u8]| format!("{:x}", Sha256::digest(bytes));
    let again: Vec<(&str, String)> =
        built.iter().map(|Component { name, bytes }| (name.as_str(), digest(bytes))).collect();
    let embedded: Vec<(&str, String)> =
        first_party().iter().map(|component| (component.name, digest(component.bytes))).collect();
    assert_eq!(again, embedded);
}

fn copy(from: &Path, to: &Path) {
    if !from.is_dir() {
        fs::create_dir_all(to.parent().expect("it lies in a folder")).expect("a folder can be made");
        fs::copy(from, to).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
        return;
    }
    for entry in fs::read_dir(from).unwrap_or_else(|error| panic!("{}: {error}", from.display())) {
        let entry = entry.expect("the folder can be listed");
        copy(&entry.path(), &to.join(entry.file_name()));
    }
}
