//! The folder in which somebody writes a plugin.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use netquarry_plugin::toolchain::ToolchainError;
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

impl Terms {
    /// What these leave open is taken from the manifest of the plugin, where its source is at hand.
    ///
    /// # Errors
    /// As [`Project::terms`].
    pub fn or_declared(self, project: Option<&Project>) -> Result<Self, Problem> {
        let Some(project) = project.filter(|_| self.license.is_none() || self.repository.is_none()) else {
            return Ok(self);
        };
        let declared = project.terms()?;
        Ok(Self { license: self.license.or(declared.license), repository: self.repository.or(declared.repository) })
    }
}

/// What `cargo metadata` says.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Named>,
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

    /// Its licence and repository, as far as its manifest has them or the one of its workspace.
    ///
    /// # Errors
    /// The manifest cannot be read any more, or cargo cannot say what it takes from its workspace.
    pub fn terms(&self) -> Result<Terms, Problem> {
        let read = match self.language {
            Language::Rust => manifest(&self.folder.join(CARGO))?.and_then(|manifest| manifest.package),
            Language::Python => manifest(&self.folder.join(PYPROJECT))?.and_then(|manifest| manifest.project),
        };
        let Some(mut read) = read else { return Ok(Terms::default()) };
        if self.language == Language::Rust && [&read.license, &read.repository].into_iter().flatten().any(is_inherited)
        {
            read = self.with_its_workspace()?;
        }
        let Named { license, repository, urls, .. } = read;
        let of_source =
            |(label, _): &(String, String)| ["repository", "source"].contains(&label.to_lowercase().as_str());
        let url = urls.into_iter().find(of_source).map(|(_, url)| url);
        Ok(Terms { license: license.and_then(stated), repository: repository.and_then(stated).or(url) })
    }

    /// What cargo says of the package, which knows where its workspace is.
    fn with_its_workspace(&self) -> Result<Named, Problem> {
        let manifest = self.folder.join(CARGO);
        let mut cargo = Command::new("cargo");
        cargo.args(["metadata", "--no-deps", "--format-version", "1"]).current_dir(&self.folder).stdin(Stdio::null());
        let output = cargo.output().map_err(|error| ToolchainError::Missing { tool: "cargo".into(), error })?;
        let failure = |why: String| {
            let what = format!("What `{}` takes from its workspace cannot be known", manifest.display());
            Problem::new(what).because(why).help("give --license and --repository, or mend the workspace")
        };
        if !output.status.success() {
            return Err(failure(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
        }
        let metadata: Metadata = serde_json::from_slice(&output.stdout).map_err(|error| failure(error.to_string()))?;
        let own = metadata.packages.into_iter().find(|package| package.name == self.name);
        own.ok_or_else(|| failure(format!("cargo knows no package `{}` there", self.name)))
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

/// Whether a field of Cargo.toml says what that of the workspace does: `license.workspace = true`.
fn is_inherited(field: &toml::Value) -> bool {
    field.get("workspace").is_some()
}

/// What a field says: a text, or what was written before pyproject.toml had expressions, `license = { text = "MIT" }`. Fields
/// that name a file say nothing here.
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
    fn a_workspace_says_what_its_plugin_leaves_to_it() {
        let folder = tempfile::tempdir().expect("there is room");
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("it can be made");
            fs::write(path, text).expect("it can be written");
        };
        let workspace = "[workspace]\nmembers = [\"mine\"]\n[workspace.package]\nlicense = \"MIT\"\n";
        write(CARGO, workspace);
        write("mine/src/lib.rs", "");
        let inheriting = "[package]\nname = \"mine\"\nversion = \"0.1.0\"\nlicense.workspace = true\n";
        write("mine/Cargo.toml", &format!("{inheriting}repository = \"https://a.example\"\n"));
        let mine = Project::open(&folder.path().join("mine")).expect("it is one");
        let declared = Terms { license: Some("MIT".to_owned()), repository: Some("https://a.example".to_owned()) };
        assert_eq!(mine.terms().expect("cargo knows"), declared);
        // What is asked for goes before it, and where all of it is, nothing is read.
        let asked = Terms { license: Some("ISC".to_owned()), repository: None };
        assert_eq!(asked.clone().or_declared(None).expect("nothing is read"), asked);
        let both = Terms { license: asked.license.clone(), ..declared };
        assert_eq!(asked.or_declared(Some(&mine)).expect("cargo knows"), both);
        write(CARGO, "[workspace]\nmembers = [\"mine\"]\n");
        let problem = mine.terms().expect_err("the workspace has no licence");
        assert!(problem.to_string().contains("takes from its workspace cannot be known"), "{problem}");
        both.or_declared(Some(&mine)).expect("nothing is read");
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
        assert_eq!(cargo("license-file = \"LICENSE\""), ["", ""]);
        let python = |fields: &str| terms(PYPROJECT, &format!("[tool.netquarry]\n[project]\nname = \"a\"\n{fields}\n"));
        assert_eq!(python("license = \"ISC\"\nurls.Source = \"https://a.example\""), ["ISC", "https://a.example"]);
        assert_eq!(python("license = { text = \"MIT\" }\nurls = { Homepage = \"https://b.example\" }"), ["MIT", ""]);
    }
}
