//! The folder in which somebody writes a plugin.

use std::collections::BTreeMap;
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
    license: Option<toml::Value>,
    repository: Option<toml::Value>,
    /// Of pyproject.toml, by labels of the author's.
    #[serde(default)]
    urls: BTreeMap<String, String>,
}

/// What a manifest says of how a plugin may be used, and of where its source is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    pub license: Option<String>,
    pub repository: Option<String>,
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
        if let Some(Manifest { package: Some(Named { name, .. }), .. }) = manifest(&folder.join(CARGO))? {
            return Ok(Self { folder: folder.to_owned(), language: Language::Rust, name });
        }
        let found = manifest(&folder.join(PYPROJECT))?;
        match found {
            Some(Manifest { project: Some(Named { name, .. }), tool: Some(Tools { netquarry: Some(_) }), .. }) => {
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

    /// Its licence and repository, as far as its manifest itself has them.
    ///
    /// # Errors
    /// The manifest cannot be read any more.
    pub fn terms(&self) -> Result<Terms, Problem> {
        let read = match self.language {
            Language::Rust => manifest(&self.folder.join(CARGO))?.and_then(|manifest| manifest.package),
            Language::Python => manifest(&self.folder.join(PYPROJECT))?.and_then(|manifest| manifest.project),
        };
        let Some(Named { license, repository, urls, .. }) = read else { return Ok(Terms::default()) };
        let of_source =
            |(label, _): &(String, String)| ["repository", "source"].contains(&label.to_lowercase().as_str());
        let url = urls.into_iter().find(of_source).map(|(_, url)| url);
        Ok(Terms { license: license.and_then(stated), repository: repository.and_then(stated).or(url) })
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

/// What a field says: a text, or what was written before pyproject.toml had expressions, `license = { text = "MIT" }`. Fields
/// that name a file or a workspace say nothing here.
fn stated(field: toml::Value) -> Option<String> {
    let text = field.get("text").unwrap_or(&field);
    text.as_str().map(str::to_owned)
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

    #[test]
    fn the_manifest_says_licence_and_repository() {
        let terms = |file: &str, text: &str| {
            let folder = tempfile::tempdir().expect("there is room");
            fs::write(folder.path().join(file), text).expect("it can be written");
            let Terms { license, repository } =
                Project::open(folder.path()).expect("it is one").terms().expect("again");
            [license, repository].map(Option::unwrap_or_default)
        };
        let cargo = |fields: &str| terms(CARGO, &format!("[package]\nname = \"a\"\n{fields}\n"));
        assert_eq!(cargo("license = \"MIT\"\nrepository = \"https://a.example\""), ["MIT", "https://a.example"]);
        assert_eq!(cargo("license.workspace = true"), ["", ""]);
        let python = |fields: &str| terms(PYPROJECT, &format!("[tool.netquarry]\n[project]\nname = \"a\"\n{fields}\n"));
        assert_eq!(python("license = \"ISC\"\nurls.Source = \"https://a.example\""), ["ISC", "https://a.example"]);
        assert_eq!(python("license = { text = \"MIT\" }\nurls = { Homepage = \"https://b.example\" }"), ["MIT", ""]);
    }
}
