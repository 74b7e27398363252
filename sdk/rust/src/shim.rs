//! Shims: what static analysis cannot see in one code base.

pub use crate::bindings::repo_shim::netquarry::plugin::index::{
    Answer, Definition, DefinitionKind, FileError, Question, Resolved,
};
pub use crate::bindings::repo_shim::netquarry::plugin::rules::{
    BlockArguments, OperatorNamespace, Registry, Replacement, Rule, Tables, UpstreamState,
};
use crate::{Plugin, Refusal};

/// No rules at all, to name only the tables that a shim fills.
impl Default for Tables {
    fn default() -> Self {
        Self {
            packages: Vec::new(),
            dropped_decorators: Vec::new(),
            dropped_calls: Vec::new(),
            postponed_annotations: Vec::new(),
            registries: Vec::new(),
            named_tables: Vec::new(),
            dropped_members: Vec::new(),
            dropped_bases: Vec::new(),
            replaced_definitions: Vec::new(),
            operator_namespaces: Vec::new(),
            dynamic_names: Vec::new(),
            arguments: Vec::new(),
            upstream_states: Vec::new(),
        }
    }
}

/// Of a table's row: the dotted path and the reason.
impl From<(&str, &str)> for Rule {
    fn from((path, why): (&str, &str)) -> Self {
        Self { path: path.to_owned(), why: why.to_owned() }
    }
}

/// Of a table's row: the dotted path, the Python text that takes its place, and the reason.
impl From<(&str, &str, &str)> for Replacement {
    fn from((path, by, why): (&str, &str, &str)) -> Self {
        Self { path: path.to_owned(), by: by.to_owned(), why: why.to_owned() }
    }
}

/// A plugin of the kind `repo-shim`.
pub trait RepoShim: Plugin {
    /// The rules that the host applies by itself.
    ///
    /// # Errors
    ///
    /// The shim is then not used at all.
    fn tables(&self) -> Result<Tables, Refusal>;

    /// Says what a use of a name needs that [`Tables::dynamic_names`] marks.
    ///
    /// # Errors
    ///
    /// It fails the question. A shim that does not know answers [`Answer::Unknown`].
    fn answer(&self, question: &Question, index: &dyn CodeIndex) -> Result<Answer, Refusal> {
        let _ = index;
        Ok(Answer::Unknown(format!("{} has no answer about {}", Self::NAME, question.name)))
    }
}

/// What a shim sees of the host's index. The host's own is behind a resource; a test brings an implementation of its
/// own.
pub trait CodeIndex {
    /// The definition under a dotted path; re-exports are followed.
    fn find(&self, path: &str) -> Option<Definition>;

    /// The text of the definition, decorators included.
    fn source(&self, path: &str) -> Option<String>;

    /// The dotted paths that the definition refers to, as far as they resolve; sorted.
    fn references(&self, path: &str) -> Vec<String>;

    /// The dotted paths of the definitions under a decorator that is a call of `registry` and has `key`, a string or a
    /// dotted path, among its arguments; sorted.
    fn registered(&self, registry: &str, key: &str) -> Vec<String>;

    /// The paths of those files of a source that the shim may read ([`Plugin::READS_FILES`]), sorted. `source` is the
    /// name that the corpus gives to it, as in [`Definition::source`].
    fn files(&self, source: &str) -> Vec<String> {
        let _ = source;
        Vec::new()
    }

    /// The bytes of a file of a source as it was fetched.
    ///
    /// # Errors
    ///
    /// Where the shim may not read it, or the source has no such file, or the host keeps none of its kind.
    fn read_file(&self, source: &str, path: &str) -> Result<Vec<u8>, FileError> {
        let _ = (source, path);
        Err(FileError::Missing)
    }
}

impl CodeIndex for crate::bindings::repo_shim::netquarry::plugin::index::CodeIndex {
    fn find(&self, path: &str) -> Option<Definition> {
        self.find(path)
    }

    fn source(&self, path: &str) -> Option<String> {
        self.source(path)
    }

    fn references(&self, path: &str) -> Vec<String> {
        self.references(path)
    }

    fn registered(&self, registry: &str, key: &str) -> Vec<String> {
        self.registered(registry, key)
    }

    fn files(&self, source: &str) -> Vec<String> {
        self.files(source)
    }

    fn read_file(&self, source: &str, path: &str) -> Result<Vec<u8>, FileError> {
        self.read_file(source, path)
    }
}
