//! From a name or a file to a [`Corpus`]; also reads the files of the reference implementation as they are.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use crate::corpus::{Corpus, Location};
use crate::reference;
use crate::shipped;

/// Why there is no corpus: which file, where in it, what, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum CorpusError {
    #[error("there is no corpus `{name}`: neither a file of that name nor a shipped one ({})", shipped::names().join(", "))]
    Unknown { name: String },
    #[error("cannot read the corpus file {}: {error}", path.display())]
    Unreadable { path: PathBuf, error: std::io::Error },
    #[error("{file}:{line}:{column}: this is not JSON: {message}")]
    Syntax { file: String, line: usize, column: usize, message: String },
    #[error("{file}: {place}: {message}")]
    Content { file: String, place: JsonPlace, message: String },
}

impl CorpusError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Unknown { .. } => "name a shipped corpus or the path of a corpus file".to_owned(),
            Self::Unreadable { .. } => "check the path and its permissions".to_owned(),
            Self::Syntax { .. } => {
                "mend the JSON at that place; comments and trailing commas are not allowed".to_owned()
            }
            Self::Content { message, .. } if message.starts_with("unknown field") => {
                "remove the field or correct its name; `netquarry corpus schema` prints the format".to_owned()
            }
            Self::Content { .. } => "`netquarry corpus schema` prints the format".to_owned(),
        }
    }
}

/// A place in a JSON document, `sources[2].location.pypi.version`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonPlace(pub String);

impl fmt::Display for JsonPlace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() || self.0 == "." {
            formatter.write_str("top level")
        } else {
            write!(formatter, "`{}`", self.0)
        }
    }
}

/// Whether the name of a corpus is a path: it ends in `.json` or holds a path separator. Any other is of a shipped one.
pub fn names_a_file(name: &str) -> bool {
    name.ends_with(".json") || name.contains(['/', '\\'])
}

/// The corpus that `name_or_path` means, a file or a shipped one.
///
/// # Errors
/// If there is none, or it is not as the format has it.
pub fn load(name_or_path: &str) -> Result<Corpus, CorpusError> {
    if names_a_file(name_or_path) {
        return load_file(Path::new(name_or_path));
    }
    match shipped::text(name_or_path) {
        Some(text) => parse(text, name_or_path),
        None => Err(CorpusError::Unknown { name: name_or_path.to_owned() }),
    }
}

/// Reads a corpus file. Relative paths in it start at its folder.
///
/// # Errors
/// If it cannot be read, or is not as the format has it.
pub fn load_file(path: &Path) -> Result<Corpus, CorpusError> {
    let mut corpus = parse(&read(path)?, &path.display().to_string())?;
    let folder = path.parent().unwrap_or(Path::new(""));
    for source in &mut corpus.sources {
        if let Location::Local(local) = &mut source.location {
            local.folder = folder.to_path_buf();
        }
    }
    Ok(corpus)
}

/// Names of blocks from a JSON list, as the reference implementation's `nn_block_names.json`: trimmed, empty entries
/// left out, each name once, in the order of the file.
///
/// # Errors
/// If the file cannot be read or is not a JSON list of strings.
pub fn load_targets(path: &Path) -> Result<Vec<String>, CorpusError> {
    reference::parse_block_names(&read(path)?, &path.display().to_string())
}

/// The corpus in `text`; `file` is what errors call it.
///
/// # Errors
/// If it is not as the format has it.
pub fn parse(text: &str, file: &str) -> Result<Corpus, CorpusError> {
    let document: serde_json::Value = from_json(text, file)?;
    if document.is_array() {
        let message = "this is a list, not a corpus; a list of block names is given as targets of an extraction";
        return Err(content(file, "", message));
    }
    if reference::is_repository_configuration(&document) {
        return reference::parse_repository_configuration(text, file);
    }
    let corpus: Corpus = from_json(text, file)?;
    check(&corpus, file)?;
    Ok(corpus)
}

/// What the types cannot say.
fn check(corpus: &Corpus, file: &str) -> Result<(), CorpusError> {
    if corpus.sources.is_empty() {
        return Err(content(file, "sources", "the corpus has no sources; give it at least one"));
    }
    for (index, source) in corpus.sources.iter().enumerate() {
        if let Some(first) = corpus.sources[..index].iter().position(|other| other.name == source.name) {
            let message = format!("`{}` is also the name of `sources[{first}]`; names are unique", source.name);
            return Err(content(file, &format!("sources[{index}].name"), &message));
        }
    }
    Ok(())
}

pub(crate) fn from_json<T: DeserializeOwned>(text: &str, file: &str) -> Result<T, CorpusError> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let place = error.path().to_string();
        let inner = error.into_inner();
        if inner.is_data() { content(file, &place, &without_position(&inner)) } else { syntax(file, &inner) }
    })?;
    deserializer.end().map_err(|error| syntax(file, &error))?;
    Ok(value)
}

fn syntax(file: &str, error: &serde_json::Error) -> CorpusError {
    CorpusError::Syntax {
        file: file.to_owned(),
        line: error.line(),
        column: error.column(),
        message: without_position(error),
    }
}

pub(crate) fn content(file: &str, place: &str, message: &str) -> CorpusError {
    CorpusError::Content { file: file.to_owned(), place: JsonPlace(place.to_owned()), message: message.to_owned() }
}

/// serde_json appends the position to its messages; ours stands elsewhere.
fn without_position(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    message.strip_suffix(&position).unwrap_or(&message).to_owned()
}

fn read(path: &Path) -> Result<String, CorpusError> {
    std::fs::read_to_string(path).map_err(|error| CorpusError::Unreadable { path: path.to_path_buf(), error })
}
