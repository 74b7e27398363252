//! Blocks with the same code, to the byte.

use std::collections::BTreeMap;

use netquarry_sdk::dedup::{Blocks, Decisions, DedupStrategy, Removal, Shingling};
use netquarry_sdk::{ConfigurationError, Plugin, Refusal};
use schemars::JsonSchema;
use serde::Deserialize;
use survivor::{Merits, Preference, prefix_rank, summaries};

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Configuration {
    /// What makes the block better that stays, in turn; where all are equal, the first one stays.
    pub prefer: Vec<Preference>,
    /// Name prefixes, the best one first; they decide before everything else which block stays, and nothing but that.
    pub prefixes: Vec<String>,
    /// The normalisations of tokens, by the host's names, in each of which blocks of equal code have to be equal too:
    /// `class` tells blocks apart whose files hold the classes of both.
    pub normalisations: Vec<String>,
}

impl Default for Configuration {
    fn default() -> Self {
        Self { prefer: survivor::DEFAULT.to_vec(), prefixes: Vec::new(), normalisations: vec!["class".to_owned()] }
    }
}

pub struct Exact {
    configuration: Configuration,
}

impl Plugin for Exact {
    const NAME: &str = "dedup-exact";
    const VERSION: &str = env!("CARGO_PKG_VERSION");
    const DOCUMENTATION: &str = include_str!("../README.md");
    const EXAMPLES: &[(&str, &str)] = &[("copies", include_str!("../examples/copies.json"))];
    type Configuration = Configuration;

    fn new(configuration: Configuration) -> Result<Self, ConfigurationError> {
        Ok(Self { configuration })
    }
}

impl DedupStrategy for Exact {
    fn deduplicate(&self, blocks: &dyn Blocks) -> Result<Decisions, Refusal> {
        let Configuration { prefer, prefixes, .. } = &self.configuration;
        let merits = Merits::of(blocks, prefer);
        let mut by_code: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        let mut ranks = Vec::new();
        for (block, summary) in (0..).zip(summaries(blocks)) {
            ranks.push(prefix_rank(&summary.name, prefixes));
            by_code.entry(summary.sha256).or_default().push(block);
        }
        let mut removals = Vec::new();
        for group in self.equals(blocks, by_code.into_values().filter(|group| group.len() > 1))? {
            let best = group.iter().min_by(|first, second| {
                let [first_rank, second_rank] = [first, second].map(|block| ranks[**block as usize]);
                first_rank.cmp(&second_rank).then_with(|| merits.compare(**first, **second))
            });
            let survivor = *best.expect("a group has a member");
            let others = group.iter().filter(|block| **block != survivor);
            removals.extend(others.map(|block| Removal {
                block: *block,
                survivor,
                reason: "exact".to_owned(),
                similarity: Some(1.0),
            }));
        }
        removals.sort_by_key(|removal| removal.block);
        Ok(removals.into())
    }
}

impl Exact {
    /// The groups, each taken apart into those that are equal in all normalisations.
    fn equals(&self, blocks: &dyn Blocks, groups: impl Iterator<Item = Vec<u32>>) -> Result<Vec<Vec<u32>>, Refusal> {
        let mut equals = Vec::new();
        for group in groups {
            let mut keys: Vec<Vec<u32>> = vec![Vec::new(); group.len()];
            for normalisation in &self.configuration.normalisations {
                let shingling = Shingling { normalisation: normalisation.clone(), width: WIDTH };
                let first = blocks.first_equals(&group, &shingling)?;
                keys.iter_mut().zip(first).for_each(|(key, first)| key.push(first));
            }
            let mut by_key: BTreeMap<Vec<u32>, Vec<u32>> = BTreeMap::new();
            for (key, block) in keys.into_iter().zip(group) {
                by_key.entry(key).or_default().push(block);
            }
            equals.extend(by_key.into_values());
        }
        Ok(equals)
    }
}

/// Consecutive tokens per shingle, as the lexical strategy has them.
const WIDTH: u32 = 10;

netquarry_sdk::export!(Exact as DedupStrategy);

#[cfg(test)]
mod tests {
    use netquarry_sdk::configured;
    use netquarry_sdk::testing::MemoryBlocks;

    use super::*;

    fn blocks() -> MemoryBlocks {
        let mut blocks = MemoryBlocks::default();
        blocks.add("alpha", "same");
        blocks.add("beta", "other");
        blocks.add("rag-gamma", "same").level = 5;
        blocks.add("delta", "same").accuracy = Some(0.9);
        blocks
    }

    fn removed(configuration: &str) -> Vec<(u32, u32)> {
        let exact = configured::<Exact>(configuration).expect("the configuration is right");
        let decisions = exact.deduplicate(&blocks()).expect("it has no reason to fail");
        decisions.removals.iter().map(|removal| (removal.block, removal.survivor)).collect()
    }

    #[test]
    fn the_best_validated_one_stays() {
        assert_eq!(removed("{}"), [(0, 2), (3, 2)]);
    }

    #[test]
    fn nn_dup_asks_for_accuracy_length_and_name_after_the_prefix() {
        assert_eq!(removed(r#"{"prefer": ["accuracy", "longer", "name"]}"#), [(0, 3), (2, 3)]);
        assert_eq!(
            removed(r#"{"prefer": ["accuracy", "longer", "name"], "prefixes": ["zeta", "Alpha", "RAG"]}"#),
            [(2, 0), (3, 0)]
        );
    }

    #[test]
    fn without_criteria_the_first_one_stays() {
        assert_eq!(removed(r#"{"prefer": []}"#), [(2, 0), (3, 0)]);
    }
}
