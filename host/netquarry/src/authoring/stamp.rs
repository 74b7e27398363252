//! Whether a component is what its source would be built into, where two builds of one source differ in bytes.

use std::fs;
use std::path::{Path, PathBuf};

use ignore::{DirEntry, WalkBuilder};
use sha2::{Digest, Sha256};

use super::project::Project;
use super::sdk;
use crate::library::folder::hexadecimal;
use crate::problem::Problem;

/// Folders in that of a project of which nothing is built: what comes out of it.
pub(super) const OUTPUTS: [&str; 2] = ["target", "dist"];

/// The digest of a source. It is kept beside the component, with the component's own.
pub(super) struct Stamp {
    path: PathBuf,
    source: String,
}

impl Stamp {
    /// Of all files in the folder of the project but hidden ones and those that a build or a run of Python makes; `tool` is what
    /// builds it. Nothing where one of them cannot be read, be it a link to nothing: only a build shows whether it matters.
    pub(super) fn of(project: &Project, tool: &str) -> Option<Self> {
        let mut walk = WalkBuilder::new(&project.folder);
        walk.standard_filters(false)
            .hidden(true)
            .follow_links(true)
            .sort_by_file_name(Ord::cmp)
            .filter_entry(is_source);
        let mut digest = Sha256::new_with_prefix(tool);
        for entry in walk.build() {
            let entry = entry.ok()?;
            if entry.file_type().is_some_and(|kind| kind.is_file()) {
                let path = entry.path();
                let content = fs::read(path).ok()?;
                let name = path.strip_prefix(&project.folder).unwrap_or(path).as_os_str().as_encoded_bytes();
                for part in [name, &content] {
                    digest.update((part.len() as u64).to_le_bytes());
                    digest.update(part);
                }
            }
        }
        Some(Self { path: project.component().with_extension("built"), source: hexadecimal(&digest.finalize()) })
    }

    /// Whether the component in this file was built of this source.
    pub(super) fn fits(&self, component: &Path) -> bool {
        let kept = fs::read_to_string(&self.path);
        fs::read(component).is_ok_and(|component| kept.is_ok_and(|kept| kept == self.with(&component)))
    }

    /// Keeps it beside the component that was built.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn keep(&self, component: &[u8]) -> Result<(), Problem> {
        sdk::write_file(&self.path, self.with(component).as_bytes())
    }

    fn with(&self, component: &[u8]) -> String {
        format!("source {}\ncomponent {}\n", self.source, hexadecimal(&Sha256::digest(component)))
    }
}

fn is_source(entry: &DirEntry) -> bool {
    let is_output = entry.depth() == 1 && OUTPUTS.iter().any(|name| entry.file_name() == *name);
    let is_environment = entry.path().join("pyvenv.cfg").is_file();
    !is_output && !is_environment && entry.file_name() != "__pycache__"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authoring::project::Language;

    #[test]
    fn a_component_fits_until_its_source_or_itself_is_another() {
        let folder = tempfile::tempdir().unwrap();
        let project =
            Project { folder: folder.path().to_owned(), language: Language::Python, name: "shim-acme".to_owned() };
        let write = |path: &str, text: &str| sdk::write_file(&folder.path().join(path), text.as_bytes()).unwrap();
        let fits = |tool: &str| Stamp::of(&project, tool).unwrap().fits(&project.component());
        write("shim_acme/__init__.py", "one");
        write("target/shim-acme.wasm", "component");
        assert!(!fits("1"), "nobody has built it");
        Stamp::of(&project, "1").unwrap().keep(b"component").unwrap();
        assert!(fits("1"));
        assert!(!fits("2"), "another tool");
        // What runs and tests leave is no source.
        write("shim_acme/__pycache__/x.pyc", "compiled");
        write(".pytest_cache/x", "cached");
        write("dist/shim-acme-0.1.0.wasm", "component");
        write("environment/pyvenv.cfg", "");
        assert!(fits("1"));
        for (path, before, after) in [
            ("target/shim-acme.wasm", "component", "another"),
            ("shim_acme/__init__.py", "one", "two"),
            ("shim_acme/table.json", "", "{}"),
            ("shim_acme/target/table.json", "", "{}"),
        ] {
            write(path, after);
            assert!(!fits("1"), "{path}");
            write(path, before);
        }
        fs::remove_file(folder.path().join("shim_acme/table.json")).unwrap();
        fs::remove_dir_all(folder.path().join("shim_acme/target")).unwrap();
        assert!(fits("1"), "it is all as it was");
        std::os::unix::fs::symlink("nowhere", folder.path().join("link")).unwrap();
        assert!(Stamp::of(&project, "1").is_none(), "a build is to say whether that matters");
    }
}
