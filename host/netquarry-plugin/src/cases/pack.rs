//! Golden packs: the cases that travel with a version of a plugin.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Case, CaseError};
use crate::cache::hexadecimal;
use crate::plugin::{Kind, Plugin};

/// Cases of one version of a plugin, each with the output that it gave where it was packed. A registry names the digest of
/// the pack's text beside that of the component.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GoldenPack {
    /// The version of this format: 1.
    pub format: u32,
    pub plugin: String,
    pub version: String,
    pub kind: Kind,
    /// By name.
    pub cases: BTreeMap<String, Case>,
}

impl GoldenPack {
    /// The version of the format.
    pub const FORMAT: u32 = 1;

    /// A pack of these cases, whose outputs are taken as they are.
    pub fn of(plugin: &Plugin, cases: BTreeMap<String, Case>) -> Self {
        let (identity, kind) = (plugin.identity(), plugin.description().kind);
        Self { format: Self::FORMAT, plugin: identity.name.clone(), version: identity.version.clone(), kind, cases }
    }

    /// Reads a pack.
    ///
    /// # Errors
    ///
    /// Where the text is not JSON, or not a pack of this format.
    pub fn read(text: &str) -> Result<Self, CaseError> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let pack: Self = serde_path_to_error::deserialize(&mut deserializer)
            .map_err(|error| CaseError::Pack { path: error.path().to_string(), message: error.inner().to_string() })?;
        match pack.format {
            Self::FORMAT => Ok(pack),
            other => Err(CaseError::Pack {
                path: "format".to_owned(),
                message: format!(
                    "this program reads packs of format {}, and this one has format {other}",
                    Self::FORMAT
                ),
            }),
        }
    }

    /// As it is published. The same pack has the same text.
    pub fn text(&self) -> String {
        serde_json::to_string_pretty(self).expect("its keys are strings") + "\n"
    }

    /// SHA-256 of the text, as hexadecimal digits.
    pub fn digest(&self) -> String {
        hexadecimal(&Sha256::digest(self.text().as_bytes()))
    }
}
