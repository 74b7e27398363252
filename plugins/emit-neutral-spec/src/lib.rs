//! A JSON description of each block that carries no upstream code.

use netquarry_sdk::emit::{Block, Emission, Emitted, File, SpecEmitter};
use netquarry_sdk::{ConfigurationError, Plugin, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod manifest;
mod shapes;
pub mod spec;
mod summary;
mod value;

use crate::spec::{FORMAT, Spec};

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Configuration {
    /// Blocks below this level of validation (0 to 7) get no spec.
    #[schemars(range(max = 7))]
    pub minimum_level: u8,
}

pub struct NeutralSpec {
    configuration: Configuration,
}

impl Plugin for NeutralSpec {
    const NAME: &str = "emit-neutral-spec";
    const VERSION: &str = env!("CARGO_PKG_VERSION");
    const DOCUMENTATION: &str = include_str!("../README.md");
    const EXAMPLES: &[(&str, &str)] = &[("two-blocks", include_str!("../examples/two-blocks.json"))];
    type Configuration = Configuration;

    fn new(configuration: Configuration) -> Result<Self, ConfigurationError> {
        if configuration.minimum_level > 7 {
            let message = "levels go from 0 to 7".to_owned();
            return Err(ConfigurationError { pointer: "/minimum_level".to_owned(), message });
        }
        Ok(Self { configuration })
    }
}

impl SpecEmitter for NeutralSpec {
    fn emit_block(&self, block: &Block) -> Result<Emission, Refusal> {
        if block.level < self.configuration.minimum_level {
            return Ok(Emission::nothing());
        }
        let spec = Spec::of(block).map_err(Refusal::Input)?;
        Ok(Emission::of(vec![json_file(path(block), &spec)?]))
    }

    fn emit_index(&self, blocks: &[Emitted]) -> Result<Vec<File>, Refusal> {
        let described = blocks.iter().filter_map(|block| {
            let path = block.paths.first()?;
            let category = block.category.name();
            Some(IndexEntry { id: &block.id, name: &block.name, category, level: block.level, path })
        });
        let index = Index { format: FORMAT, blocks: described.collect() };
        let schema = json_file("schema.json".to_owned(), &spec::schema())?;
        Ok(vec![json_file("index.json".to_owned(), &index)?, schema])
    }
}

/// All specs of a run, sorted by identity.
#[derive(Serialize)]
struct Index<'a> {
    format: &'a str,
    blocks: Vec<IndexEntry<'a>>,
}

#[derive(Serialize)]
struct IndexEntry<'a> {
    id: &'a str,
    name: &'a str,
    category: &'a str,
    level: u8,
    path: &'a str,
}

/// Like the bundle's, whose name is unique whatever the case of letters; a block without a bundle is told from others
/// by a digest of its identity.
fn path(block: &Block) -> String {
    match &block.bundle {
        Some(bundle) => {
            let name = bundle.rsplit('/').next().unwrap_or(bundle);
            format!("blocks/{}.json", name.strip_suffix(".py").unwrap_or(name))
        }
        None => {
            let plain = |character: char| {
                if character.is_ascii_alphanumeric() || "._-".contains(character) { character } else { '_' }
            };
            let name: String = block.id.chars().map(plain).take(160).collect();
            format!("failed/{name}-{:016x}.json", fnv1a(block.id.as_bytes()))
        }
    }
}

/// The 64-bit FNV-1a hash.
fn fnv1a(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

fn json_file(path: String, value: &impl Serialize) -> Result<File, String> {
    let mut content = serde_json::to_vec_pretty(value).map_err(|error| format!("{path}: {error}"))?;
    content.push(b'\n');
    Ok(File::whole(path, content))
}

netquarry_sdk::export!(NeutralSpec as SpecEmitter);

#[cfg(test)]
mod tests;
