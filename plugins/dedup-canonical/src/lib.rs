//! Blocks that are the same network, however it is written.

use std::collections::BTreeMap;

use netquarry_sdk::dedup::{Blocks, Decisions, DedupStrategy, Removal, Shingling};
use netquarry_sdk::{ConfigurationError, Plugin, Refusal};
use schemars::JsonSchema;
use serde::Deserialize;
use survivor::{Merits, Preference};

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Configuration {
    /// What makes the block better that stays, in turn; where all are equal, the first one stays.
    pub prefer: Vec<Preference>,
}

impl Default for Configuration {
    fn default() -> Self {
        Self { prefer: survivor::DEFAULT.to_vec() }
    }
}

pub struct Canonical {
    configuration: Configuration,
}

impl Plugin for Canonical {
    const NAME: &str = "dedup-canonical";
    const VERSION: &str = env!("CARGO_PKG_VERSION");
    const DOCUMENTATION: &str = include_str!("../README.md");
    const EXAMPLES: &[(&str, &str)] = &[("other-names", include_str!("../examples/other-names.json"))];
    type Configuration = Configuration;

    fn new(configuration: Configuration) -> Result<Self, ConfigurationError> {
        Ok(Self { configuration })
    }
}

impl DedupStrategy for Canonical {
    fn deduplicate(&self, blocks: &dyn Blocks) -> Result<Decisions, Refusal> {
        let merits = Merits::of(blocks, &self.configuration.prefer);
        let all: Vec<u32> = (0..blocks.count()).collect();
        // The digest is one token.
        let digest = Shingling { normalisation: "canonical-digest".to_owned(), width: 1 };
        let mut groups: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (block, first) in all.iter().zip(blocks.first_equals(&all, &digest)?) {
            groups.entry(first).or_default().push(*block);
        }
        let mut removals = Vec::new();
        for group in groups.values() {
            let best = group.iter().min_by(|first, second| merits.compare(**first, **second));
            let survivor = *best.expect("a group has a member");
            let others = group.iter().filter(|block| **block != survivor);
            removals.extend(others.map(|block| Removal {
                block: *block,
                survivor,
                reason: "canonical".to_owned(),
                similarity: Some(1.0),
            }));
        }
        removals.sort_by_key(|removal| removal.block);
        Ok(removals.into())
    }
}

netquarry_sdk::export!(Canonical as DedupStrategy);

#[cfg(test)]
mod tests {
    use netquarry_sdk::configured;
    use netquarry_sdk::testing::MemoryBlocks;

    use super::*;

    fn removed(configuration: &str) -> Vec<(u32, u32)> {
        let mut blocks = MemoryBlocks::default();
        blocks.add("first", "form");
        blocks.add("second", "other");
        blocks.add("third", "form").level = 5;
        let canonical = configured::<Canonical>(configuration).expect("the configuration is right");
        let decisions = canonical.deduplicate(&blocks).expect("it has no reason to fail");
        decisions.removals.iter().map(|removal| (removal.block, removal.survivor)).collect()
    }

    #[test]
    fn the_best_validated_one_stays() {
        assert_eq!(removed("{}"), [(0, 2)]);
    }

    #[test]
    fn without_criteria_the_first_one_stays() {
        assert_eq!(removed(r#"{"prefer": []}"#), [(2, 0)]);
    }
}
