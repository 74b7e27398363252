//! Cases of deduplication strategies.

use std::sync::Arc;

use netquarry_core::dedup::{BlockSet, BlockSummary, Code, Removal, Restoration};
use netquarry_core::fingerprint::archive::Forgetful;
use netquarry_core::fingerprint::blocks::CodeBlocks;
use netquarry_core::fingerprint::shelf::InMemory;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Answered, Input};
use crate::dedup::DedupStrategy;
use crate::plugin::Kind;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StrategyInput {
    /// In their order.
    blocks: Vec<CodedBlock>,
}

impl Input for StrategyInput {
    const KIND: Kind = Kind::DedupStrategy;
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CodedBlock {
    /// Its identity, by which the output names it.
    id: String,
    /// The name of the block in the code; the last part of the identity where none is given.
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    source: String,
    /// A greater one is preferred.
    #[serde(default)]
    priority: i32,
    /// The highest level of validation passed, 0 to 7.
    #[serde(default)]
    level: u8,
    #[serde(default)]
    accuracy: Option<f64>,
    /// An earlier strategy removed it.
    #[serde(default)]
    removed: bool,
    /// The Python text.
    code: String,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct StrategyOutput {
    removals: Vec<NamedRemoval>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    restorations: Vec<NamedRestoration>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct NamedRemoval {
    block: String,
    /// The block that stands for it.
    survivor: String,
    reason: String,
    similarity: Option<f64>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct NamedRestoration {
    block: String,
    reason: String,
}

pub(super) fn run(strategy: &DedupStrategy, StrategyInput { blocks }: &StrategyInput) -> Answered<StrategyOutput> {
    let coded = blocks.iter().map(|block| (summary(block), Code::from(Arc::from(block.code.as_str()))));
    let all = CodeBlocks::new(coded, Arc::new(InMemory::default()), Arc::new(Forgetful));
    let is_left = |number: u32| !blocks[number as usize].removed;
    let numbered = (0..).zip(blocks);
    let (left, removed): (Vec<_>, Vec<_>) = numbered.partition(|(number, _)| is_left(*number));
    let ids: Vec<&str> = left.into_iter().chain(removed).map(|(_, block)| block.id.as_str()).collect();
    let id = |number: u32| ids[number as usize].to_owned();
    let set: Arc<dyn BlockSet> = Arc::new(all.with_left(is_left));
    match strategy.run(&set) {
        Ok(decisions) => {
            let removal = |Removal { block, survivor, reason, similarity }| NamedRemoval {
                block: id(block),
                survivor: id(survivor),
                reason,
                similarity,
            };
            let restoration = |Restoration { block, reason }| NamedRestoration { block: id(block), reason };
            Answered::from(StrategyOutput {
                removals: decisions.removals.into_iter().map(removal).collect(),
                restorations: decisions.restorations.into_iter().map(restoration).collect(),
            })
        }
        Err(error) => Answered { output: StrategyOutput::default(), failures: vec![error] },
    }
}

fn summary(block: &CodedBlock) -> BlockSummary {
    let CodedBlock { id, name, source, priority, level, accuracy, code, .. } = block;
    let last = id.rsplit(['.', ':']).next().unwrap_or(id);
    BlockSummary {
        id: id.clone(),
        name: name.as_deref().unwrap_or(last).to_owned(),
        source: source.clone(),
        priority: *priority,
        level: *level,
        accuracy: *accuracy,
        characters: u64::try_from(code.chars().count()).expect("lengths fit into 64 bits"),
        sha256: Sha256::digest(code.as_bytes()).into(),
    }
}
