//! Blocks, chat records and design summaries in the forms that NN-GPT reads.

use netquarry_sdk::emit::{Block, Emission, Emitted, File, SpecEmitter};
use netquarry_sdk::{ConfigurationError, Plugin, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod chat;
mod design;
mod identity;
mod index;
mod infill;
mod prompt;
mod reason;
mod signals;
mod syntax;

use crate::design::Candidate;
use crate::identity::Split;
use crate::index::Entry;

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Configuration {
    /// Blocks below this level of validation (1 to 7) are left out.
    #[schemars(range(min = 1, max = 7))]
    pub minimum_level: u8,
    /// A block whose code has more characters gets no chat record. NN-GPT has 4,000 tokens for a prompt, and code has
    /// three to four characters a token.
    #[schemars(range(min = 1))]
    pub maximum_characters: u32,
    /// Whether there is a second record of each block, in which the body of `forward` is to be filled in.
    pub infill: bool,
    /// Which blocks stay on one side of the split.
    pub group_by: Grouping,
    /// Of the groups, in [0, 1]. What the two shares leave is for training.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub dev_share: f64,
    /// Of the groups, in [0, 1].
    #[schemars(range(min = 0.0, max = 1.0))]
    pub test_share: f64,
}

/// What the blocks of a group have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Grouping {
    /// The upstream file, by its path in its source.
    File,
    /// The source: a distribution or repository.
    Source,
}

impl Default for Configuration {
    fn default() -> Self {
        Self {
            minimum_level: 3,
            maximum_characters: 12_000,
            infill: true,
            group_by: Grouping::File,
            dev_share: 0.1,
            test_share: 0.1,
        }
    }
}

impl Configuration {
    fn split(&self, block: &Block) -> Split {
        let origin = &block.provenance;
        let group = match self.group_by {
            Grouping::File => &origin.file,
            Grouping::Source => &origin.source,
        };
        Split::of(group, self.dev_share, self.test_share)
    }
}

pub struct NnGpt {
    configuration: Configuration,
}

impl Plugin for NnGpt {
    const NAME: &str = "emit-nn-gpt";
    const VERSION: &str = env!("CARGO_PKG_VERSION");
    const DOCUMENTATION: &str = include_str!("../README.md");
    const EXAMPLES: &[(&str, &str)] = &[("two-blocks", include_str!("../examples/two-blocks.json"))];
    type Configuration = Configuration;

    fn new(configuration: Configuration) -> Result<Self, ConfigurationError> {
        let error = |pointer: &str, message: &str| {
            Err(ConfigurationError { pointer: pointer.to_owned(), message: message.to_owned() })
        };
        let is_share = |share: f64| (0.0..=1.0).contains(&share);
        if !(1..=7).contains(&configuration.minimum_level) {
            error("/minimum_level", "levels go from 1 to 7")
        } else if configuration.maximum_characters == 0 {
            error("/maximum_characters", "code has at least one character")
        } else if !is_share(configuration.dev_share) {
            error("/dev_share", "a share is between 0 and 1")
        } else if !is_share(configuration.test_share) {
            error("/test_share", "a share is between 0 and 1")
        } else if configuration.dev_share + configuration.test_share > 1.0 {
            error("/test_share", "the two shares are more than 1 together")
        } else {
            Ok(Self { configuration })
        }
    }
}

impl SpecEmitter for NnGpt {
    fn emit_block(&self, block: &Block) -> Result<Emission, Refusal> {
        let (Some(bundle), Some(code)) = (&block.bundle, &block.code) else { return Ok(Emission::nothing()) };
        if block.level < self.configuration.minimum_level {
            return Ok(Emission::nothing());
        }
        let (records, chat) = chat::records(&self.configuration, block, without_header(code))
            .map_err(|error| format!("the chat record: {error}"))?;
        let entry = Entry { candidate: Candidate::of(block), license: block.license.clone(), chat };
        let mut files = vec![block_file(block, bundle, code)];
        files.extend(records);
        let entry = serde_json::to_string(&entry).map_err(|error| format!("the entry: {error}"))?;
        Ok(Emission { files, entry: Some(entry) })
    }

    fn emit_index(&self, blocks: &[Emitted]) -> Result<Vec<File>, Refusal> {
        Ok(index::files(&self.configuration, blocks)?)
    }
}

/// The bundle behind the line by which NN-GPT's prompts have the class marked. The name is the bundle's, which is that of
/// the class where only one class bears it.
fn block_file(block: &Block, bundle: &str, code: &str) -> File {
    let name = bundle.rsplit('/').next().unwrap_or(bundle);
    File::whole(format!("blocks/{name}"), format!("# ---- {} (target) ----\n{code}", block.name))
}

/// The code of a bundle behind the comment about its provenance, which ends with the first empty line.
fn without_header(bundle: &str) -> &str {
    match bundle.split_once("\n\n") {
        Some((header, code)) if header.lines().all(|line| line.starts_with('#')) => code,
        _ => bundle,
    }
}

netquarry_sdk::export!(NnGpt as SpecEmitter);

#[cfg(test)]
mod tests;
