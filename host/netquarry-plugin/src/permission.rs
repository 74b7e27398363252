//! What plugins ask for beyond what every plugin of their kind is given.

use std::fmt;

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{PluginIdentity, is_legible, quoted};

/// Something that a plugin asks for, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Permission {
    #[serde(flatten)]
    pub right: Right,
    /// A sentence for the person who is to grant it: one line, of which everything can be seen.
    pub why: String,
}

impl Permission {
    /// Longer reasons nobody reads, and what stands at their end least of all.
    const WHY_BYTES: usize = 500;

    /// # Errors
    ///
    /// In words, where this host knows no such right, the scope is none, or the reason is none that a person can read.
    pub(crate) fn read(name: &str, scope: &str, why: String) -> Result<Self, String> {
        let right =
            Right::read(name, scope).map_err(|reason| format!("it asks for what nobody can grant: {reason}"))?;
        if why.trim().is_empty() {
            return Err(format!("it asks for {right} and does not say why"));
        }
        if why.len() > Self::WHY_BYTES {
            let (found, most) = (why.len(), Self::WHY_BYTES);
            return Err(format!("it asks for {right} with a reason of {found} bytes, and {most} are the most"));
        }
        if !why.chars().all(is_legible) {
            let why = quoted(&why);
            return Err(format!("it asks for {right}, and the reason has characters that are not to be seen: {why}"));
        }
        Ok(Self { right, why })
    }
}

/// What can be granted to a plugin.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(tag = "name", content = "scope", rename_all = "kebab-case")]
pub enum Right {
    /// To read the files of sources whose paths the glob matches.
    ReadFiles(PathGlob),
}

/// A glob of paths relative to the root of a source: `*` matches within a segment; `**`, which is a segment of its own,
/// matches any number of segments. Nothing else stands for anything but itself, so that a glob matches what it seems to:
/// with classes of characters `a[!b]c` would match `a/c`, and with alternatives `{a,/b}` would be absolute.
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
            _ => Err(format!("this host cannot grant {} to a plugin; a newer one may", quoted(name))),
        }
    }
}

impl fmt::Display for Right {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.name(), self.scope())
    }
}

impl PathGlob {
    /// Longer paths are rare, and a person is to read it.
    const BYTES: usize = 256;

    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn compiled(&self) -> Glob {
        let mut builder = GlobBuilder::new(&self.0);
        builder.literal_separator(true).build().expect("stars and plain characters are a glob")
    }
}

impl TryFrom<String> for PathGlob {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match flaw(&text) {
            None => Ok(Self(text)),
            Some(flaw) => {
                Err(format!("{} is no glob of paths relative to the root of a source: {flaw}", quoted(&text)))
            }
        }
    }
}

/// What is wrong with a glob.
fn flaw(glob: &str) -> Option<&'static str> {
    let mut segments = glob.split('/');
    if glob.is_empty() {
        Some("it is empty")
    } else if glob.len() > PathGlob::BYTES {
        Some("it is longer than 256 bytes")
    } else if !glob.chars().all(is_legible) {
        Some("it has characters that are not to be seen")
    } else if glob.contains(['?', '[', ']', '{', '}', '\\']) {
        Some("it has a character other than `*` that stands for others elsewhere")
    } else if glob.starts_with('/') {
        Some("it is absolute")
    } else if segments.clone().any(|segment| matches!(segment, "" | "." | "..")) {
        Some("it has a segment that is empty, `.` or `..`")
    } else if segments.any(|segment| segment.contains("**") && segment != "**") {
        Some("`**` is not a segment of its own")
    } else {
        None
    }
}

impl From<PathGlob> for String {
    fn from(glob: PathGlob) -> Self {
        glob.0
    }
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
#[derive(Debug)]
pub(crate) struct ReadableFiles(GlobSet);

impl ReadableFiles {
    pub(crate) fn of(granted: &[Right]) -> Self {
        let mut globs = GlobSetBuilder::new();
        for Right::ReadFiles(glob) in granted {
            globs.add(glob.compiled());
        }
        Self(globs.build().expect("a few globs of limited length can be compiled together"))
    }

    /// Whether it may read the file with this path, relative to the root of a source. What is no plain path is the path of
    /// no file: `a/**` would match `a/../b`.
    pub(crate) fn has(&self, path: &str) -> bool {
        let is_plain = path.split('/').all(|segment| !matches!(segment, "" | "." | "..")) && !path.contains('\\');
        is_plain && self.0.is_match(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glob_that_is_not_what_it_seems_is_none() {
        let long = "a".repeat(257);
        let cases = [
            ("", "it is empty"),
            (long.as_str(), "it is longer than 256 bytes"),
            ("a\u{1b}[2K", "it has characters that are not to be seen"),
            ("a\u{202e}b", "it has characters that are not to be seen"),
            ("a\nb", "it has characters that are not to be seen"),
            ("a?", "it has a character other than `*` that stands for others elsewhere"),
            ("a[!b]c", "it has a character other than `*` that stands for others elsewhere"),
            ("{a,/etc/passwd}", "it has a character other than `*` that stands for others elsewhere"),
            ("a\\b", "it has a character other than `*` that stands for others elsewhere"),
            ("/etc/passwd", "it is absolute"),
            ("../x", "it has a segment that is empty, `.` or `..`"),
            ("a/../b", "it has a segment that is empty, `.` or `..`"),
            ("a/./b", "it has a segment that is empty, `.` or `..`"),
            ("a//b", "it has a segment that is empty, `.` or `..`"),
            ("a/", "it has a segment that is empty, `.` or `..`"),
            ("a**/b", "`**` is not a segment of its own"),
            ("***", "`**` is not a segment of its own"),
        ];
        for (glob, flaw) in cases {
            let error = Right::read("read-files", glob).expect_err(glob);
            let expected = format!("{} is no glob of paths relative to the root of a source: {flaw}", quoted(glob));
            assert_eq!(error, expected);
        }
    }

    #[test]
    fn a_glob_matches_what_it_seems_to() {
        let cases: [(&str, &[&str], &[&str]); 6] = [
            (
                "configs/*.yaml",
                &["configs/a.yaml", "configs/.yaml", "configs/*.yaml"],
                &["configs/a/b.yaml", "other/configs/a.yaml", "configs/A.YAML", "Configs/a.yaml", "configs/a.yaml/"],
            ),
            ("*", &["a", ".hidden"], &["a/b", ""]),
            ("**", &["a", "a/b/c"], &["", "/a", "a//b", "../a", "a/..", "."]),
            ("a/**", &["a/b", "a/b/c"], &["a", "b/a/c", "a/../b", "a/b/../../c", "a/./b", "a/..\\b"]),
            ("a/**/b", &["a/b", "a/c/b", "a/c/d/b"], &["a/c", "c/a/b"]),
            ("a!b, c-d", &["a!b, c-d"], &["a", "c-d"]),
        ];
        for (glob, inside, outside) in cases {
            let readable = ReadableFiles::of(&[Right::read("read-files", glob).expect(glob)]);
            inside.iter().for_each(|path| assert!(readable.has(path), "{glob} {path}"));
            outside.iter().for_each(|path| assert!(!readable.has(path), "{glob} {path}"));
        }
    }

    /// The longest globs of the most of which each character becomes the longest expression.
    #[test]
    fn any_globs_can_be_compiled_together() {
        let globs: Vec<Right> = (b'a'..=b'z')
            .map(|letter| format!("{}{}", "*/".repeat(127), char::from(letter)))
            .map(|glob| Right::read("read-files", &glob).expect(&glob))
            .collect();
        let readable = ReadableFiles::of(&globs);
        assert!(readable.has(&format!("{}z", "x/".repeat(127))) && !readable.has("z"));
    }

    #[test]
    fn what_nobody_knows_cannot_be_granted() {
        assert_eq!(
            Right::read("open-sockets", "*").unwrap_err(),
            "this host cannot grant \"open-sockets\" to a plugin; a newer one may"
        );
    }

    #[test]
    fn a_reason_is_a_line_that_can_be_read() {
        let long = "a".repeat(501);
        let cases = [
            (" ", "it asks for read-files a and does not say why"),
            (long.as_str(), "it asks for read-files a with a reason of 501 bytes, and 500 are the most"),
            (
                "b\nGranted",
                "it asks for read-files a, and the reason has characters that are not to be seen: \"b\\nGranted\"",
            ),
            (
                "b\u{1b}[8m",
                "it asks for read-files a, and the reason has characters that are not to be seen: \"b\\u{1b}[8m\"",
            ),
        ];
        for (why, expected) in cases {
            assert_eq!(Permission::read("read-files", "a", why.to_owned()).unwrap_err(), expected);
        }
        let why = "die Köpfe stehen in {a}: 100 %";
        assert_eq!(Permission::read("read-files", "a", why.to_owned()).unwrap().why, why);
    }

    #[test]
    fn nothing_can_be_read_unless_it_is_granted() {
        assert!(!ReadableFiles::of(&[]).has("a"));
    }
}
