//! The format of `registry.json`: which plugins there are, and where their versions lie.

use std::collections::BTreeMap;

use netquarry_plugin::{Kind, Right};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::digest::Pin;
use crate::location::Location;

/// The version of the format that this program reads and writes.
pub const FORMAT: u32 = 1;

/// The name of the file in a registry's folder.
pub const FILE_NAME: &str = "registry.json";

/// A list of plugins. `registry.json` at the root of NetQuarry's repository is the first-party one, and the example for
/// others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Index {
    /// The version of this format: 1.
    pub format: u32,
    /// What the registry calls itself. A project may give it another name.
    pub name: String,
    /// With keys here every version must be signed by one of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<IndexKey>,
    /// By name: up to 64 lower-case letters, digits and hyphens.
    pub plugins: BTreeMap<String, IndexedPlugin>,
}

/// A public key that signs versions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IndexKey {
    /// Whose it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// The second line of a minisign public key file.
    pub key: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IndexedPlugin {
    pub kind: Kind,
    /// One line.
    pub summary: String,
    /// An SPDX expression.
    pub license: String,
    /// A URL; `.` for the repository in which the registry lies.
    pub repository: String,
    /// Within the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// The oldest first, each once.
    pub versions: Vec<IndexedVersion>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IndexedVersion {
    /// A semantic version.
    pub version: String,
    /// The versions of the WIT package on whose hosts it runs, as a semantic-version requirement: `^0.1.0`.
    pub wit: String,
    pub location: Location,
    /// Of the component, 64 hexadecimal digits. Filled in when the component is built, and so absent from the text of
    /// the first-party registry in the repository; nowhere else.
    pub sha256: Option<String>,
    /// Of the component, in bytes; at most 256 MiB.
    pub size: Option<u64>,
    /// Why nobody should use this version any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub yanked: Option<String>,
    /// Inputs and expected outputs that anyone can run again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub golden: Option<GoldenPack>,
    /// What the plugin asks for beyond nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub permissions: Vec<Permission>,
    /// The text of a minisign signature of the component whose trusted comment is
    /// `netquarry NAME VERSION sha256:DIGEST`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GoldenPack {
    pub sha256: String,
    /// In bytes.
    pub size: u64,
    pub location: Location,
}

/// Something that a plugin asks for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Permission {
    /// What: up to 64 lower-case letters, digits and hyphens.
    pub name: String,
    /// How much of it.
    pub scope: String,
}

impl From<&Right> for Permission {
    fn from(right: &Right) -> Self {
        Self { name: right.name().to_owned(), scope: right.scope().to_owned() }
    }
}

impl Index {
    /// A registry without plugins.
    pub fn new(name: &str, keys: Vec<IndexKey>) -> Self {
        Self { format: FORMAT, name: name.to_owned(), keys, plugins: BTreeMap::new() }
    }

    /// As it is written to `registry.json`.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("an index is plain JSON") + "\n"
    }
}

impl IndexedVersion {
    /// What its bytes must be; nothing for a first-party component that is not built yet.
    pub fn pin(&self) -> Option<Pin> {
        Some(Pin { sha256: self.sha256.clone()?, size: self.size? })
    }

    /// Whether these are the bytes that the registry means. A version without a digest means none.
    pub fn matches(&self, component: &[u8]) -> bool {
        self.pin().is_some_and(|pin| pin.check(component).is_ok())
    }
}

impl GoldenPack {
    pub fn pin(&self) -> Pin {
        Pin { sha256: self.sha256.clone(), size: self.size }
    }
}

/// The JSON Schema of [`Index`], pretty-printed, with a final newline.
pub fn schema() -> String {
    let schema = schemars::schema_for!(Index);
    serde_json::to_string_pretty(&schema).expect("a schema is plain JSON") + "\n"
}
