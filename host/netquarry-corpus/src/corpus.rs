//! The JSON format of a corpus: which sources to mine, how urgent each is, what of it counts, and how to get it.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::scope::Scope;

/// A list of sources and what to do with them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Corpus {
    /// Where the JSON Schema of this format lies; for editors only.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// What reports call this corpus.
    #[serde(deserialize_with = "non_empty")]
    #[schemars(length(min = 1))]
    pub name: String,
    /// For people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The name of the discovery-rule plugin that chooses the blocks, such as `discover-nn-module-deep`. Without it the
    /// configuration decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discovery_rule: Option<String>,
    /// Import packages that stay imports even where a source of this corpus defines them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keep_imports: Vec<String>,
    /// Names of blocks to extract, bare (`DropPath`) or qualified (`timm.layers.drop.DropPath`); empty: all that
    /// discovery finds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<String>,
    /// At least one source; names are unique.
    #[schemars(length(min = 1))]
    pub sources: Vec<SourceSpec>,
}

impl Corpus {
    pub fn source(&self, name: &str) -> Option<&SourceSpec> {
        self.sources.iter().find(|source| source.name == name)
    }

    /// Sources by priority, the most urgent first; equal ones in the order of the file.
    pub fn by_priority(&self) -> Vec<&SourceSpec> {
        let mut sources: Vec<_> = self.sources.iter().collect();
        sources.sort_by_key(|source| source.priority);
        sources
    }

    /// Puts the local folder (or wheel, or sdist) `path` in the place of the source `name`; its scope, priority and
    /// distribution stay.
    ///
    /// # Errors
    /// If the corpus has no such source.
    pub fn replace_source(&mut self, name: &str, path: &Path) -> Result<(), UnknownSource> {
        let Some(spec) = self.sources.iter_mut().find(|source| source.name == name) else {
            return Err(UnknownSource {
                name: name.to_owned(),
                corpus: self.name.clone(),
                known: self.sources.iter().map(|source| source.name.clone()).collect(),
            });
        };
        spec.location = Location::Local(LocalLocation {
            path: path.to_path_buf(),
            folder: PathBuf::new(),
            distribution: spec.location.distribution().map(str::to_owned),
        });
        Ok(())
    }
}

/// `--source NAME=PATH` named a source that the corpus does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("corpus `{corpus}` has no source `{name}`; its sources are {}", known.join(", "))]
pub struct UnknownSource {
    pub name: String,
    pub corpus: String,
    pub known: Vec<String>,
}

/// One source of a corpus.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SourceSpec {
    /// The first half of the identity of its blocks, `timm` in `timm:timm.layers.drop.DropPath`. No white space, no `:`.
    #[serde(deserialize_with = "source_name")]
    #[schemars(regex(pattern = r"^[^\s:=]+$"))]
    pub name: String,
    /// For people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// 1 comes first.
    #[serde(default = "first_priority")]
    pub priority: u32,
    /// Where the code comes from.
    pub location: Location,
    #[serde(default)]
    pub fetch: FetchPolicy,
    /// Folders from which imports start, relative to the root: `["src"]`, `["."]`. Found out where not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub import_roots: Option<Vec<String>>,
    /// What discovery looks at. Resolution always sees the whole source.
    #[serde(default, skip_serializing_if = "Scope::is_everything")]
    pub scope: Scope,
}

fn first_priority() -> u32 {
    1
}

/// When the network is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FetchPolicy {
    /// Every time; what has not changed is not transferred again.
    Always,
    /// Only where the cache has nothing.
    #[default]
    Missing,
    /// Not at all: the cache has it, or it is an error.
    Never,
}

/// Where the code of a source comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Location {
    /// A distribution of the package index that pip is configured with.
    Pypi(PypiLocation),
    /// A git repository.
    Git(GitLocation),
    /// A folder, wheel or sdist of this machine.
    Local(LocalLocation),
}

impl Location {
    /// The distribution that an environment would install to get this source, where the corpus says so.
    pub fn distribution(&self) -> Option<&str> {
        match self {
            Self::Pypi(pypi) => Some(&pypi.project),
            Self::Git(git) => git.distribution.as_deref(),
            Self::Local(local) => local.distribution.as_deref(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PypiLocation {
    /// The name of the distribution, `segment-anything`.
    #[serde(deserialize_with = "project_name")]
    #[schemars(regex(pattern = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"))]
    pub project: String,
    /// The exact version; without it the newest final release, which makes runs of different days differ.
    #[serde(default, deserialize_with = "version", skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    #[serde(default)]
    pub prefer: ArchivePreference,
}

/// Which file of a release to take; the other kind is taken where the preferred one is missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ArchivePreference {
    #[default]
    Wheel,
    Sdist,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GitLocation {
    /// `https://`, `http://` or `file://`.
    #[serde(deserialize_with = "git_url")]
    #[schemars(regex(pattern = r"^(https?|file)://"))]
    pub url: String,
    /// A branch, a tag or a commit of forty hexadecimal digits; without it the remote's default branch.
    #[serde(default, deserialize_with = "revision", skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// The distribution that installs this code; read from the packaging metadata where not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distribution: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LocalLocation {
    /// Relative paths start at the folder of the corpus file. Records name the source by it as it is written, wherever the
    /// corpus lies.
    pub path: PathBuf,
    /// The folder of the corpus file.
    #[serde(skip)]
    pub folder: PathBuf,
    /// The distribution that installs this code; read from the packaging metadata where not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distribution: Option<String>,
}

impl LocalLocation {
    /// Where it lies.
    pub fn place(&self) -> PathBuf {
        self.folder.join(&self.path)
    }
}

/// The JSON Schema of [`Corpus`], pretty-printed, with a final newline.
pub fn schema() -> String {
    let schema = schemars::schema_for!(Corpus);
    let mut text = serde_json::to_string_pretty(&schema).expect("a schema is plain JSON");
    text.push('\n');
    text
}

fn checked<'de, D: Deserializer<'de>>(
    deserializer: D,
    check: impl FnOnce(&str) -> Result<(), Cow<'static, str>>,
) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    match check(&text) {
        Ok(()) => Ok(text),
        Err(why) => Err(serde::de::Error::custom(format_args!("`{text}` {why}"))),
    }
}

fn non_empty<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    checked(deserializer, |text| if text.trim().is_empty() { Err("is empty".into()) } else { Ok(()) })
}

fn source_name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    checked(deserializer, check_source_name)
}

/// `:` separates a source from a qualified name, `=` a source from a path on the command line.
pub(crate) fn check_source_name(text: &str) -> Result<(), Cow<'static, str>> {
    if text.is_empty() {
        return Err("is empty; a source needs a name".into());
    }
    match text.chars().find(|letter| letter.is_whitespace() || letter.is_control() || matches!(letter, ':' | '=')) {
        Some(letter) => Err(format!("cannot be the name of a source: {letter:?} is not allowed in one").into()),
        None => Ok(()),
    }
}

fn project_name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    checked(deserializer, |text| {
        let allowed = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-');
        if text.starts_with(|letter: char| letter.is_ascii_alphanumeric()) && text.chars().all(allowed) {
            Ok(())
        } else {
            Err("is not the name of a distribution: letters, digits, `.`, `_` and `-` make one".into())
        }
    })
}

fn version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let text = checked(deserializer, |text| match text.parse::<pep440_rs::Version>() {
        Ok(_) => Ok(()),
        Err(_) => Err("is not a version as PEP 440 has them; write one exact version, like `1.0.31`".into()),
    })?;
    Ok(Some(text))
}

fn git_url<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    checked(deserializer, check_git_url)
}

pub(crate) fn check_git_url(text: &str) -> Result<(), Cow<'static, str>> {
    if ["https://", "http://", "file://"].iter().any(|scheme| text.starts_with(scheme)) {
        Ok(())
    } else {
        Err("is not a URL that can be cloned; use https://, http:// or file://".into())
    }
}

fn revision<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let text = checked(deserializer, |text| {
        let odd = |letter: char| letter.is_whitespace() || letter.is_control() || "~^:?*[\\".contains(letter);
        if text.is_empty() || text.starts_with('-') || text.contains("..") || text.contains(odd) {
            Err("is not a revision; name a branch, a tag or a commit of forty hexadecimal digits".into())
        } else {
            Ok(())
        }
    })?;
    Ok(Some(text))
}
