//! The SDKs and the contract, which lie in this program, so that a plugin's folder holds all that it is built of.

use std::fs;
use std::path::Path;

use include_dir::{Dir, include_dir};

use super::project::Language;
use crate::problem::Problem;

static WIT: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../wit");
static RUST: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../sdk/rust/src");
static RUST_TEMPLATE: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../sdk/rust/template");
static PYTHON: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../sdk/python/src");
static PYTHON_TEMPLATE: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../sdk/python/template");

/// The folder of a plugin in which the SDK lies.
pub(super) const FOLDER: &str = "vendor/netquarry";

/// The files to start from; those of all kinds, and the folder of each kind.
pub(super) fn template(language: Language) -> &'static Dir<'static> {
    match language {
        Language::Rust => &RUST_TEMPLATE,
        Language::Python => &PYTHON_TEMPLATE,
    }
}

/// Writes the SDK of this program into the folder of a plugin, laid out as the SDK itself expects it.
pub(super) fn write(plugin: &Path, language: Language) -> Result<(), Problem> {
    let folder = plugin.join(FOLDER);
    match language {
        Language::Rust => {
            write_folder(&WIT, &folder.join("wit"))?;
            write_folder(&RUST, &folder.join("sdk/rust/src"))?;
            write_file(&folder.join("sdk/rust/Cargo.toml"), manifest().as_bytes())
        }
        // The contract is a part of the package.
        Language::Python => write_folder(&PYTHON, &folder.join("sdk/python")),
    }
}

/// The manifest of the Rust SDK, for itself alone: what it takes from the workspace is written out.
fn manifest() -> String {
    const OWN: &str = include_str!("../../../../sdk/rust/Cargo.toml");
    const WORKSPACE: &str = include_str!("../../../../Cargo.toml");
    let mut own: toml::Table = OWN.parse().expect("the manifest is TOML");
    let workspace: toml::Table = WORKSPACE.parse().expect("the manifest is TOML");
    let workspace = workspace["workspace"].as_table().expect("it has a workspace");
    own.remove("lints");
    for (section, common) in [("package", "package"), ("dependencies", "dependencies")] {
        let common = workspace[common].as_table().expect("it is a table");
        for (name, value) in own[section].as_table_mut().expect("it is a table") {
            if value.get("workspace").is_some() {
                *value = common[name.as_str()].clone();
            }
        }
    }
    toml::to_string(&own).expect("it was TOML")
}

pub(super) fn write_file(path: &Path, content: &[u8]) -> Result<(), Problem> {
    let parent = path.parent().expect("a file lies in a folder");
    fs::create_dir_all(parent).map_err(|error| Problem::io("make the folder", parent, error))?;
    fs::write(path, content).map_err(|error| Problem::io("write", path, error))
}

fn write_folder(folder: &Dir<'_>, to: &Path) -> Result<(), Problem> {
    for file in folder.files() {
        write_file(&to.join(file.path()), file.contents())?;
    }
    // Python leaves these where it has run.
    let folders = folder.dirs().filter(|folder| !folder.path().ends_with("__pycache__"));
    folders.into_iter().try_for_each(|folder| write_folder(folder, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifest_stands_alone() {
        let manifest: toml::Table = manifest().parse().expect("it is TOML");
        assert_eq!(manifest["package"]["name"].as_str(), Some("netquarry-sdk"));
        assert_eq!(manifest["package"]["edition"].as_str(), Some("2024"));
        assert!(manifest["dependencies"]["serde"]["features"].is_array());
        assert!(!toml::to_string(&manifest).expect("it was TOML").contains("workspace"));
    }
}
