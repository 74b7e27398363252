//! The files of the reference implementation, nn-rag: `repo_config.json` and `nn_block_names.json`, accepted as they are.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::Value;

use crate::corpus::{Corpus, FetchPolicy, GitLocation, Location, SourceSpec, check_git_url, check_source_name};
use crate::load::{CorpusError, content, from_json};
use crate::scope::{PathPattern, Scope, SymbolScope};

/// Folders that the reference never looks into.
const SKIPPED_FOLDERS: [&str; 4] = ["docs", "examples", "test", "tests"];

/// One entry of `repo_config.json`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Repository {
    url: String,
    #[serde(default = "default_priority")]
    priority: u32,
    #[serde(default)]
    paths: Vec<String>,
    #[serde(default)]
    description: String,
}

/// What the reference gives a repository that is added without one.
fn default_priority() -> u32 {
    2
}

/// The entries in the order of the file, which breaks ties between equal priorities.
#[derive(Debug)]
struct Repositories(Vec<(String, Repository)>);

impl<'de> Deserialize<'de> for Repositories {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;

        impl<'de> Visitor<'de> for Entries {
            type Value = Repositories;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("an object of repositories by name")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Repositories, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Repositories(entries))
            }
        }

        deserializer.deserialize_map(Entries)
    }
}

/// Whether the document has the shape of `repo_config.json`: an object of objects, at least one with a `url`, and
/// nothing that only a corpus has.
pub(crate) fn is_repository_configuration(document: &Value) -> bool {
    let Value::Object(entries) = document else { return false };
    let has_url = |entry: &Value| entry.get("url").is_some_and(Value::is_string);
    !entries.contains_key("sources") && entries.values().all(Value::is_object) && entries.values().any(has_url)
}

/// Discovery, as there, takes top-level classes that name `nn.Module` as a base and define `forward`.
pub(crate) fn parse_repository_configuration(text: &str, file: &str) -> Result<Corpus, CorpusError> {
    let Repositories(entries) = from_json(text, file)?;
    let mut seen = BTreeSet::new();
    let mut sources = Vec::with_capacity(entries.len());
    for (name, repository) in entries {
        check_source_name(&name).map_err(|why| content(file, &name, &format!("`{name}` {why}")))?;
        if !seen.insert(name.clone()) {
            return Err(content(file, &name, "this repository stands in the file twice; names are unique"));
        }
        sources.push(source(name, repository, file)?);
    }
    Ok(Corpus {
        schema: None,
        name: file_stem(file),
        description: "Repositories of an nn-rag configuration".to_owned(),
        discovery_rule: Some("discover-nn-module".to_owned()),
        keep_imports: Vec::new(),
        targets: Vec::new(),
        sources,
    })
}

fn source(name: String, repository: Repository, file: &str) -> Result<SourceSpec, CorpusError> {
    let Repository { url, priority, paths, description } = repository;
    check_git_url(&url).map_err(|why| content(file, &format!("{name}.url"), &format!("`{url}` {why}")))?;
    let pattern = |(index, path): (usize, String)| {
        let path = path.trim_matches('/').to_owned();
        PathPattern::try_from(path).map_err(|why| content(file, &format!("{name}.paths[{index}]"), &why))
    };
    let include = paths.into_iter().enumerate().map(pattern).collect::<Result<_, _>>()?;
    let skipped = |folder| PathPattern::try_from(format!("**/{folder}/**")).expect("a constant pattern");
    Ok(SourceSpec {
        name,
        description,
        priority,
        location: Location::Git(GitLocation { url, revision: None, distribution: None }),
        fetch: FetchPolicy::Missing,
        import_roots: None,
        scope: Scope {
            include,
            exclude: SKIPPED_FOLDERS.into_iter().map(skipped).collect(),
            symbols: SymbolScope::default(),
        },
    })
}

pub(crate) fn parse_block_names(text: &str, file: &str) -> Result<Vec<String>, CorpusError> {
    let names: Vec<String> = from_json(text, file)?;
    let mut seen = BTreeSet::new();
    let trimmed = names.iter().map(|name| name.trim()).filter(|name| !name.is_empty());
    Ok(trimmed.filter(|name| seen.insert(*name)).map(str::to_owned).collect())
}

fn file_stem(file: &str) -> String {
    let stem = std::path::Path::new(file).file_stem().and_then(|stem| stem.to_str());
    stem.filter(|stem| !stem.is_empty()).unwrap_or("repo_config").to_owned()
}
