//! The folder in which somebody writes a plugin.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::problem::Problem;

/// What a plugin is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Language {
    Rust,
    Python,
}

/// A folder with the source of one plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    pub folder: PathBuf,
    pub language: Language,
    /// The name of its package, which the plugin has too.
    pub name: String,
}

#[derive(Deserialize)]
struct Manifest {
    /// Of Cargo.toml.
    package: Option<Named>,
    /// Of pyproject.toml.
    project: Option<Named>,
    tool: Option<Tools>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

#[derive(Deserialize)]
struct Tools {
    netquarry: Option<toml::Table>,
}

const CARGO: &str = "Cargo.toml";
const PYPROJECT: &str = "pyproject.toml";

impl Project {
    /// The plugin whose source lies in `folder`.
    pub fn open(folder: &Path) -> Result<Self, Problem> {
        if let Some(Manifest { package: Some(Named { name }), .. }) = manifest(&folder.join(CARGO))? {
            return Ok(Self { folder: folder.to_owned(), language: Language::Rust, name });
        }
        let found = manifest(&folder.join(PYPROJECT))?;
        match found {
            Some(Manifest { project: Some(Named { name }), tool: Some(Tools { netquarry: Some(_) }), .. }) => {
                Ok(Self { folder: folder.to_owned(), language: Language::Python, name })
            }
            Some(_) => Err(Problem::new(format!("`{}` is not that of a plugin", folder.join(PYPROJECT).display()))
                .because("it has no [project] with a name, or no [tool.netquarry]")
                .help("`netquarry plugin new NAME --kind KIND --language python` writes one")),
            None => Err(Problem::new(format!("There is no plugin in `{}`", folder.display()))
                .because(format!("neither {CARGO} of a package nor {PYPROJECT} lies there"))
                .help("name its folder, or make one with `netquarry plugin new NAME --kind KIND`")),
        }
    }

    /// Where the component is put that is built of it.
    pub fn component(&self) -> PathBuf {
        self.folder.join("target").join(format!("{}.wasm", self.name))
    }

    /// The cases that the component carries, a file each.
    pub fn examples(&self) -> PathBuf {
        self.folder.join("examples")
    }

    /// The cases that stay with the source, a folder each.
    pub fn fixtures(&self) -> PathBuf {
        self.folder.join("fixtures")
    }
}

fn manifest(path: &Path) -> Result<Option<Manifest>, Problem> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Problem::io("read", path, error)),
    };
    toml::from_str(&text).map(Some).map_err(|error| {
        let problem = Problem::new(format!("`{}` cannot be read", path.display()));
        match error.span() {
            Some(span) => problem.at(path, &text, span, error.message().to_owned()),
            None => problem.because(error.message().to_owned()),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_in_a_folder_says_the_language() {
        let folder = tempfile::tempdir().expect("there is room");
        let problem = Project::open(folder.path()).expect_err("it is empty").to_string();
        assert!(problem.starts_with("There is no plugin in"), "{problem}");
        let pyproject = folder.path().join(PYPROJECT);
        fs::write(&pyproject, "[project]\nname = \"other\"\n").expect("it can be written");
        assert!(
            Project::open(folder.path()).expect_err("it is no plugin").to_string().contains("not that of a plugin")
        );
        fs::write(&pyproject, "[project]\nname = \"shim-acme\"\n[tool.netquarry]\n").expect("it can be written");
        let project = Project::open(folder.path()).expect("it is one");
        assert_eq!((project.language, project.name.as_str()), (Language::Python, "shim-acme"));
        fs::write(folder.path().join(CARGO), "[package]\nname = \"dedup-acme\"\n").expect("it can be written");
        assert_eq!(Project::open(folder.path()).expect("it is one").language, Language::Rust);
        fs::write(folder.path().join(CARGO), "[package\n").expect("it can be written");
        assert!(Project::open(folder.path()).expect_err("it is broken").to_string().contains("cannot be read"));
    }
}
