//! Registries: which plugins there are, and where their versions lie.
//!
//! The program knows its first-party components without one: the build fills in their digests, and a test compares the
//! result with the components. The format is what plugins of others will be found by.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::cache::hexadecimal;
use crate::plugin::Kind;

/// A list of plugins. `registry.json` at the root of the repository is the first-party one, and the example for others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Registry {
    /// The version of this format: 1.
    pub format: u32,
    /// The name under which a project's configuration mentions the registry.
    pub name: String,
    /// By name.
    pub plugins: BTreeMap<String, RegistryPlugin>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RegistryPlugin {
    pub kind: Kind,
    /// One line.
    pub summary: String,
    /// An SPDX expression.
    pub license: String,
    /// A URL; `.` for the repository in which the registry lies.
    pub repository: String,
    /// Within the repository.
    pub folder: String,
    /// The oldest first.
    pub versions: Vec<RegistryVersion>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RegistryVersion {
    pub version: String,
    /// The versions of the WIT package on whose hosts it runs, as a semantic-version requirement: `^0.1.0`.
    pub wit: String,
    pub location: Location,
    /// Of the component, hexadecimal digits. Filled in when the component is built, and so absent from the text of the
    /// first-party registry in the repository.
    pub sha256: Option<String>,
    /// Of the component, in bytes.
    pub size: Option<u64>,
    /// Why nobody should use this version any more.
    pub yanked: Option<String>,
    /// SHA-256 of the golden pack: inputs and expected outputs that anyone can run again.
    pub golden: Option<String>,
}

/// Where a component lies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Location {
    /// In the program itself, by name.
    Embedded(String),
    /// A path, relative to the registry's file.
    File(String),
    /// A URL.
    Https(String),
    /// A reference such as `ghcr.io/owner/name:1.0.0`.
    Oci(String),
}

impl RegistryVersion {
    /// Whether these are the bytes that the registry means. A version without a digest means none.
    pub fn matches(&self, component: &[u8]) -> bool {
        let digest = hexadecimal(&Sha256::digest(component));
        self.sha256.as_ref() == Some(&digest) && self.size == u64::try_from(component.len()).ok()
    }
}
