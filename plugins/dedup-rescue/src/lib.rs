//! Brings back blocks of name prefixes of which too few would be left.

use std::collections::BTreeMap;

use netquarry_sdk::dedup::{Blocks, Decisions, DedupStrategy, Restoration, Shingling};
use netquarry_sdk::{ConfigurationError, Plugin, Refusal};
use schemars::JsonSchema;
use serde::Deserialize;
use survivor::Preference;
use survivor::restoring::Restoring;

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Configuration {
    /// The beginnings of names of which blocks are to be left.
    pub prefixes: Vec<String>,
    /// How many blocks of each prefix are to be left.
    pub min_per_prefix: usize,
    /// The Jaccard similarity of shingle sets from which on a block is near to one that is left.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub threshold: f64,
    /// Other thresholds for blocks that are left, by the families that NN-DUP's rules for names and code find.
    pub family_thresholds: BTreeMap<String, f64>,
    /// What makes the block better that comes back, in turn; where all are equal, the first one comes back.
    pub prefer: Vec<Preference>,
    /// Consecutive tokens per shingle.
    #[schemars(range(min = 1))]
    pub shingle_width: u32,
    /// How tokens are normalised, by the host's name for it.
    pub normalisation: String,
}

impl Default for Configuration {
    fn default() -> Self {
        Self {
            prefixes: Vec::new(),
            min_per_prefix: 1,
            threshold: 0.9,
            family_thresholds: BTreeMap::new(),
            prefer: survivor::DEFAULT.to_vec(),
            shingle_width: 10,
            normalisation: "code".to_owned(),
        }
    }
}

pub struct Rescue {
    configuration: Configuration,
}

impl Plugin for Rescue {
    const NAME: &str = "dedup-rescue";
    const VERSION: &str = env!("CARGO_PKG_VERSION");
    const DOCUMENTATION: &str = include_str!("../README.md");
    const EXAMPLES: &[(&str, &str)] = &[("too-few-of-a-prefix", include_str!("../examples/too-few-of-a-prefix.json"))];
    type Configuration = Configuration;

    fn new(configuration: Configuration) -> Result<Self, ConfigurationError> {
        survivor::check_similarity("/threshold", configuration.threshold)?;
        for (family, threshold) in &configuration.family_thresholds {
            survivor::check_similarity(&format!("/family_thresholds/{family}"), *threshold)?;
        }
        Ok(Self { configuration })
    }
}

impl DedupStrategy for Rescue {
    fn deduplicate(&self, blocks: &dyn Blocks) -> Result<Decisions, Refusal> {
        let Configuration { prefixes, min_per_prefix, prefer, .. } = &self.configuration;
        if prefixes.is_empty() {
            return Ok(Vec::<Restoration>::new().into());
        }
        let mut restoring = Restoring::new(blocks);
        let counts = restoring.counts(prefixes);
        for (prefix, count) in prefixes.iter().zip(counts) {
            let missing = min_per_prefix.saturating_sub(count);
            let is_wanted = |all: &Restoring<'_>, block: u32, others: &[u32]| Ok(!self.is_near(all, block, others)?);
            restoring.restore(prefix, missing, prefer, "rescue", is_wanted)?;
        }
        Ok(restoring.finish())
    }
}

impl Rescue {
    /// Whether a block is near to one of the others. One without tokens is near to none.
    fn is_near(&self, all: &Restoring<'_>, block: u32, others: &[u32]) -> Result<bool, Refusal> {
        let Configuration { normalisation, shingle_width, .. } = &self.configuration;
        let shingling = Shingling { normalisation: normalisation.clone(), width: *shingle_width };
        let similarities = all.blocks.jaccard(block, others, &shingling)?;
        let is_empty = all.blocks.shingle_count(block, &shingling)? == 0;
        let is_near = |(other, similarity): (&u32, f64)| similarity >= self.threshold(all, *other);
        Ok(!is_empty && others.iter().zip(similarities).any(is_near))
    }

    fn threshold(&self, all: &Restoring<'_>, block: u32) -> f64 {
        let Configuration { threshold, family_thresholds, .. } = &self.configuration;
        if family_thresholds.is_empty() {
            return *threshold;
        }
        let family = model_family::family(&all.summaries[block as usize].name, || all.blocks.code(block));
        family_thresholds.get(family).copied().unwrap_or(*threshold)
    }
}

netquarry_sdk::export!(Rescue as DedupStrategy);

#[cfg(test)]
mod tests {
    use netquarry_sdk::configured;
    use netquarry_sdk::testing::MemoryBlocks;

    use super::*;

    fn restored(blocks: &MemoryBlocks, configuration: &str) -> Vec<u32> {
        let rescue = configured::<Rescue>(configuration).expect("the configuration is right");
        let decisions = rescue.deduplicate(blocks).expect("it has no reason to fail");
        assert!(decisions.removals.is_empty());
        decisions.restorations.into_iter().map(|restoration| restoration.block).collect()
    }

    /// Two are left, and four were removed.
    fn blocks() -> MemoryBlocks {
        let mut blocks = MemoryBlocks::default();
        blocks.add("net", "a b c");
        blocks.add("ResNet-1", "d e f g h i j k l m");
        blocks.add("rag-poor", "u v w");
        blocks.add("rag-good", "x y z").level = 5;
        blocks.add("rag-copied", "a b c").level = 7;
        blocks.add("resnet-2", "d e f g h i j k l n");
        blocks.remove_last(4);
        blocks
    }

    #[test]
    fn of_a_prefix_that_is_gone_the_best_comes_back() {
        assert_eq!(restored(&blocks(), r#"{"prefixes": ["RAG", "resnet"]}"#), [3]);
        assert_eq!(restored(&blocks(), r#"{"prefixes": ["rag"], "min_per_prefix": 9}"#), [3, 2]);
        assert_eq!(restored(&blocks(), "{}"), [0; 0]);
    }

    #[test]
    fn nothing_comes_back_that_is_near_to_what_is_left() {
        let more = |threshold| {
            let keys = r#""prefixes": ["resnet"], "min_per_prefix": 2, "shingle_width": 1"#;
            restored(&blocks(), &format!(r#"{{{keys}, "threshold": {threshold}}}"#))
        };
        assert_eq!((more(0.8), more(0.9)), (vec![], vec![5]));
    }

    #[test]
    fn what_has_no_tokens_is_near_to_nothing() {
        let mut blocks = MemoryBlocks::default();
        blocks.add("empty-0", "");
        blocks.add("empty-1", " ");
        blocks.remove_last(1);
        assert_eq!(restored(&blocks, r#"{"prefixes": ["empty"], "min_per_prefix": 2}"#), [1]);
    }
}
