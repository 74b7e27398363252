//! Where code comes from: sources, files, digests and places in a text.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha1::{Digest, Sha1};

/// A half-open range of bytes in the UTF-8 text of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TextRange {
    pub start: u32,
    pub end: u32,
}

impl TextRange {
    pub fn new(start: u32, end: u32) -> Self {
        debug_assert!(start <= end, "a range starts before it ends");
        Self { start, end }
    }

    pub fn slice(self, text: &str) -> &str {
        &text[self.start as usize..self.end as usize]
    }

    pub fn contains(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    pub fn len(self) -> u32 {
        self.end - self.start
    }

    pub fn is_empty(self) -> bool {
        self.start == self.end
    }
}

/// 1-based, inclusive line numbers of the lines that `range` touches.
pub fn lines_of(text: &str, range: TextRange) -> [u32; 2] {
    let first = 1 + line_ends(&text[..range.start as usize]);
    [first, first + line_ends(&text[range.start as usize..range.end as usize])]
}

/// The number of line ends in a text of less than 4 GiB.
pub fn line_ends(text: &str) -> u32 {
    u32::try_from(memchr::memchr_iter(b'\n', text.as_bytes()).count()).expect("files are below 4 GiB")
}

/// SHA-1 of the bytes of a file, as they are in the source; the key of everything that is derived from one file alone.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentDigest(pub [u8; 20]);

impl ContentDigest {
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha1::digest(bytes).into())
    }
}

impl fmt::Display for ContentDigest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

impl fmt::Debug for ContentDigest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not a SHA-1 digest of forty hexadecimal digits")]
pub struct InvalidDigest(String);

impl FromStr for ContentDigest {
    type Err = InvalidDigest;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || InvalidDigest(text.to_owned());
        if text.len() != 40 || !text.is_ascii() {
            return Err(invalid());
        }
        let mut digest = [0; 20];
        for (index, byte) in digest.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * index..2 * index + 2], 16).map_err(|_| invalid())?;
        }
        Ok(Self(digest))
    }
}

impl Serialize for ContentDigest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ContentDigest {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SourceKind {
    Pypi,
    Git,
    Local,
}

impl SourceKind {
    /// As it stands in records: `pypi`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pypi => "pypi",
            Self::Git => "git",
            Self::Local => "local",
        }
    }
}

/// One repository at one version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The name that the corpus gives it: the first half of a block's identity.
    pub name: String,
    pub kind: SourceKind,
    /// The version of a distribution.
    pub version: Option<String>,
    /// The commit of a git source, forty hexadecimal digits.
    pub commit: Option<String>,
    /// The root tree of that commit, likewise.
    #[serde(default)]
    pub tree: Option<String>,
    /// Where it was fetched from: the index's project page, the clone URL, or the folder.
    pub url: Option<String>,
    /// The licence that the packaging metadata states, as written there.
    pub license: Option<String>,
    /// The name of the distribution that an environment would install to get this source; `None` where unknown.
    pub distribution: Option<String>,
}

impl Source {
    /// A folder on this machine about which nothing else is known.
    pub fn local(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            kind: SourceKind::Local,
            version: None,
            commit: None,
            tree: None,
            url: None,
            license: None,
            distribution: None,
        }
    }
}

/// One Python file of a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFile {
    /// Relative to the source's root, with forward slashes: `timm/layers/drop.py`.
    pub path: String,
    /// The dotted name under which the file is imported: `timm.layers.drop`; a package's `__init__.py` bears the
    /// package's name. Empty segments never occur; `None` for a file that no import can reach (`setup-extra.py`).
    pub module: Option<String>,
    pub digest: ContentDigest,
    pub bytes: u64,
}
