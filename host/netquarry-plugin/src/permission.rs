//! What plugins ask for beyond what every plugin of their kind is given.

use std::fmt;

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::PluginIdentity;

/// Something that a plugin asks for, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Permission {
    #[serde(flatten)]
    pub right: Right,
    /// A sentence for the person who is to grant it.
    pub why: String,
}

/// What can be granted to a plugin.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(tag = "name", content = "scope", rename_all = "kebab-case")]
pub enum Right {
    /// To read the files of sources whose paths the glob matches.
    ReadFiles(PathGlob),
}

/// A glob of paths relative to the root of a source: `*` matches within a segment, `**` across segments.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct PathGlob(String);

impl Right {
    /// The word for it in the contract.
    pub fn name(&self) -> &'static str {
        match self {
            Self::ReadFiles(_) => "read-files",
        }
    }

    /// How much of it.
    pub fn scope(&self) -> &str {
        match self {
            Self::ReadFiles(glob) => &glob.0,
        }
    }

    /// # Errors
    ///
    /// In words, where this host knows no such right, or the scope is none.
    pub fn read(name: &str, scope: &str) -> Result<Self, String> {
        match name {
            "read-files" => PathGlob::try_from(scope.to_owned()).map(Self::ReadFiles),
            _ => Err(format!("this host cannot grant {name:?} to a plugin; a newer one may")),
        }
    }
}

impl fmt::Display for Right {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.name(), self.scope())
    }
}

impl PathGlob {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn glob(&self) -> Glob {
        compiled(&self.0).expect("checked when it was made")
    }
}

impl TryFrom<String> for PathGlob {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text.is_empty() || text.starts_with('/') || text.split('/').any(|segment| matches!(segment, "." | "..")) {
            return Err(format!("{text:?} is no glob of paths relative to the root of a source"));
        }
        match compiled(&text) {
            Ok(_) => Ok(Self(text)),
            Err(error) => Err(format!("{text:?} is no glob: {}", error.kind())),
        }
    }
}

impl From<PathGlob> for String {
    fn from(glob: PathGlob) -> Self {
        glob.0
    }
}

fn compiled(text: &str) -> Result<Glob, globset::Error> {
    GlobBuilder::new(text).literal_separator(true).build()
}

/// A plugin asks for more than it was granted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("plugin {plugin} asks for what nobody has granted it: {}", listed(.missing))]
pub struct Ungranted {
    pub plugin: PluginIdentity,
    pub missing: Vec<Permission>,
}

fn listed(permissions: &[Permission]) -> String {
    let told = |Permission { right, why }: &Permission| format!("{right} ({why})");
    permissions.iter().map(told).collect::<Vec<_>>().join("; ")
}

/// The files of sources that a plugin may read.
pub(crate) fn readable(granted: &[Right]) -> GlobSet {
    let mut globs = GlobSetBuilder::new();
    for Right::ReadFiles(glob) in granted {
        globs.add(glob.glob());
    }
    globs.build().expect("each of them was compiled before")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glob_stays_inside_of_its_source_and_its_segment() {
        for scope in ["", "/etc/passwd", "../x", "a/../b", "a/./b", "[", "{a"] {
            assert!(Right::read("read-files", scope).is_err(), "{scope}");
        }
        let right = Right::read("read-files", "configs/*.yaml").expect("it is one");
        let readable = readable(&[right]);
        assert!(readable.is_match("configs/a.yaml"));
        assert!(!readable.is_match("configs/a/b.yaml") && !readable.is_match("other/configs/a.yaml"));
    }

    #[test]
    fn what_nobody_knows_cannot_be_granted() {
        assert_eq!(
            Right::read("open-sockets", "*").unwrap_err(),
            "this host cannot grant \"open-sockets\" to a plugin; a newer one may"
        );
    }

    #[test]
    fn nothing_can_be_read_unless_it_is_granted() {
        assert!(!readable(&[]).is_match("a"));
    }
}
