//! The cases of a plugin: the examples that its component carries, and the fixtures beside its source.
//!
//! A fixture is a folder. Its `input/` holds what the plugin is given as files: Python files of a repository for a rule or a
//! shim, one file for each block for a strategy, one record in JSON for each block for an emitter, with the bundle beside it
//! in a Python file of the same name. `fixture.json` has what files cannot say, the configuration and the blocks that are to
//! be bundled; it may be missing. `expected.json` is the output.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use netquarry_plugin::Kind;
use netquarry_plugin::cases::Case;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::project::Project;
use crate::problem::Problem;

/// A case with where it is from.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedCase {
    pub name: String,
    pub origin: Origin,
    pub case: Case,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The component carries it; the file is the one from which it has it, where the source is at hand.
    Example(Option<PathBuf>),
    /// The folder.
    Fixture(PathBuf),
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Fixture {
    configuration: Map<String, Value>,
    /// Of a shim.
    blocks: Vec<String>,
}

const EXPECTED: &str = "expected.json";

impl NamedCase {
    /// Writes the output down as what is expected.
    pub fn bless(&self, output: Value) -> Result<(), Problem> {
        let (path, text) = match &self.origin {
            Origin::Example(None) => {
                return Err(Problem::new(format!("There is no file that has the example `{}`", self.name))
                    .because("only the component carries it, and that does not change")
                    .help(
                        "name the folder with the plugin's source, with a file examples/NAME.json for each example",
                    ));
            }
            Origin::Example(Some(path)) => (path.clone(), Case { output, ..self.case.clone() }.text()),
            Origin::Fixture(folder) => {
                let text = serde_json::to_string_pretty(&output).expect("its keys are strings");
                (folder.join(EXPECTED), text + "\n")
            }
        };
        fs::write(&path, text).map_err(|error| Problem::io("write", &path, error))
    }

    /// A case that came with a component.
    pub fn example(name: String, document: &str, file: Option<PathBuf>) -> Result<Self, Problem> {
        let case = Case::read(document).map_err(|error| {
            let place = file.as_deref().map(|file| format!(" in `{}`", file.display())).unwrap_or_default();
            Problem::new(format!("The example `{name}`{place} cannot be run")).because(error)
        })?;
        Ok(Self { name, origin: Origin::Example(file), case })
    }
}

/// The fixtures of a project, by their names.
pub fn fixtures(project: &Project, kind: Kind) -> Result<Vec<NamedCase>, Problem> {
    let folder = project.fixtures();
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(&folder).and_then(|entries| entries.collect::<Result<Vec<_>, _>>());
    let entries = entries.map_err(|error| Problem::io("read", &folder, error))?;
    let mut folders: Vec<PathBuf> = entries.iter().map(fs::DirEntry::path).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders.into_iter().map(|folder| fixture(folder, kind)).collect()
}

fn fixture(folder: PathBuf, kind: Kind) -> Result<NamedCase, Problem> {
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let Fixture { configuration, blocks } = optional(&folder.join("fixture.json"))?.unwrap_or_default();
    let files = files(&folder.join("input"))?;
    let input = match kind {
        Kind::DiscoveryRule => json!({"files": files}),
        Kind::RepoShim => json!({"files": files, "blocks": blocks}),
        Kind::DedupStrategy => {
            let block = |(path, code): (String, String)| json!({"id": stem(&path), "code": code});
            json!({"blocks": files.into_iter().map(block).collect::<Vec<_>>()})
        }
        Kind::SpecEmitter => json!({"blocks": records(&folder, &files)?}),
    };
    let output = optional(&folder.join(EXPECTED))?.unwrap_or(Value::Null);
    Ok(NamedCase { name, origin: Origin::Fixture(folder), case: Case { configuration, input, output } })
}

fn records(folder: &Path, files: &BTreeMap<String, String>) -> Result<Vec<Value>, Problem> {
    let records = files.iter().filter(|(path, _)| path.ends_with(".json"));
    let block = |(path, text): (&String, &String)| -> Result<Value, Problem> {
        let place = folder.join("input").join(path);
        let record: Value = parsed(&place, text)?;
        let code = files.get(&format!("{}.py", stem(path))).map(|code| code.split('\n').collect::<Vec<_>>());
        Ok(json!({"record": record, "code": code}))
    };
    records.map(block).collect()
}

/// The path without its ending.
fn stem(path: &str) -> &str {
    path.rsplit_once('.').map_or(path, |(stem, _)| stem)
}

/// The text files of a folder by their paths relative to it, with forward slashes.
fn files(folder: &Path) -> Result<BTreeMap<String, String>, Problem> {
    let mut files = BTreeMap::new();
    for entry in WalkBuilder::new(folder).standard_filters(false).build() {
        let entry =
            entry.map_err(|error| Problem::new(format!("Could not read `{}`", folder.display())).because(error))?;
        if entry.file_type().is_some_and(|kind| kind.is_file()) {
            let path = entry.path();
            let relative = path.strip_prefix(folder).expect("the walk stays below the folder");
            let parts: Vec<_> = relative.components().map(|part| part.as_os_str().to_string_lossy()).collect();
            let text = fs::read_to_string(path).map_err(|error| Problem::io("read", path, error))?;
            files.insert(parts.join("/"), text);
        }
    }
    Ok(files)
}

fn optional<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<Option<T>, Problem> {
    match fs::read_to_string(path) {
        Ok(text) => parsed(path, &text).map(Some),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Problem::io("read", path, error)),
    }
}

fn parsed<T: for<'de> Deserialize<'de>>(path: &Path, text: &str) -> Result<T, Problem> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        Problem::new(format!("`{}` cannot be read", path.display())).because(format!(
            "{}: {}",
            error.path(),
            error.inner()
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_a_component_carries_is_not_blessed() {
        let case = Case { configuration: Map::new(), input: json!({}), output: Value::Null };
        let named = |origin| NamedCase { name: "head".to_owned(), origin, case: case.clone() };
        let problem = named(Origin::Example(None)).bless(json!({})).expect_err("there is no file").to_string();
        assert!(problem.contains("the example `head`"), "{problem}");
        let folder = tempfile::tempdir().unwrap();
        named(Origin::Fixture(folder.path().to_owned())).bless(json!({"a": 1})).unwrap();
        assert_eq!(fs::read_to_string(folder.path().join(EXPECTED)).unwrap(), "{\n  \"a\": 1\n}\n");
    }
}
