//! Brings back blocks of rare families that are like none that is left.

use netquarry_sdk::dedup::{Blocks, Decisions, DedupStrategy, Restoration, Shingling};
use netquarry_sdk::{ConfigurationError, Plugin, Refusal};
use schemars::JsonSchema;
use serde::Deserialize;
use survivor::Preference;
use survivor::restoring::Restoring;

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Configuration {
    /// The beginnings of the names of rare families.
    pub prefixes: Vec<String>,
    /// How many blocks of each prefix come back at most.
    pub per_prefix: usize,
    /// The greatest Jaccard similarity of shingle sets to a block of the prefix that is left.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub lexical_max: f64,
    /// Likewise of structures.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub structural_max: f64,
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
            per_prefix: 10,
            lexical_max: 0.85,
            structural_max: 0.60,
            prefer: survivor::DEFAULT.to_vec(),
            shingle_width: 10,
            normalisation: "code".to_owned(),
        }
    }
}

pub struct TopUp {
    configuration: Configuration,
}

impl Plugin for TopUp {
    const NAME: &str = "dedup-top-up";
    const VERSION: &str = env!("CARGO_PKG_VERSION");
    const DOCUMENTATION: &str = include_str!("../README.md");
    const EXAMPLES: &[(&str, &str)] = &[("rare-family", include_str!("../examples/rare-family.json"))];
    type Configuration = Configuration;

    fn new(configuration: Configuration) -> Result<Self, ConfigurationError> {
        survivor::check_similarity("/lexical_max", configuration.lexical_max)?;
        survivor::check_similarity("/structural_max", configuration.structural_max)?;
        Ok(Self { configuration })
    }
}

impl DedupStrategy for TopUp {
    fn deduplicate(&self, blocks: &dyn Blocks) -> Result<Decisions, Refusal> {
        let Configuration { prefixes, per_prefix, prefer, .. } = &self.configuration;
        if prefixes.is_empty() {
            return Ok(Vec::<Restoration>::new().into());
        }
        let mut restoring = Restoring::new(blocks);
        for prefix in prefixes {
            let is_wanted = |_: &Restoring<'_>, block: u32, others: &[u32]| self.is_like_none(blocks, block, others);
            restoring.restore(prefix, *per_prefix, prefer, "top_up", is_wanted)?;
        }
        Ok(restoring.finish())
    }
}

impl TopUp {
    /// Whether none of the others is too similar. Blocks without tokens have nothing in common.
    fn is_like_none(&self, blocks: &dyn Blocks, block: u32, others: &[u32]) -> Result<bool, Refusal> {
        let Configuration { normalisation, shingle_width, lexical_max, structural_max, .. } = &self.configuration;
        let shingling = Shingling { normalisation: normalisation.clone(), width: *shingle_width };
        if blocks.structural_jaccard(block, others).into_iter().any(|similarity| similarity > *structural_max) {
            return Ok(false);
        }
        let is_empty = blocks.shingle_count(block, &shingling)? == 0;
        let similarities = blocks.jaccard(block, others, &shingling)?;
        Ok(is_empty || similarities.into_iter().all(|similarity| similarity <= *lexical_max))
    }
}

netquarry_sdk::export!(TopUp as DedupStrategy);

#[cfg(test)]
mod tests {
    use netquarry_sdk::configured;
    use netquarry_sdk::testing::MemoryBlocks;

    use super::*;

    fn restored(blocks: &MemoryBlocks, configuration: &str) -> Vec<u32> {
        let top_up = configured::<TopUp>(configuration).expect("the configuration is right");
        let decisions = top_up.deduplicate(blocks).expect("it has no reason to fail");
        assert!(decisions.removals.is_empty());
        decisions.restorations.into_iter().map(|restoration| restoration.block).collect()
    }

    /// One is left.
    fn blocks() -> MemoryBlocks {
        let mut blocks = MemoryBlocks::default();
        blocks.add("FractalNet-0", "A( B( x y");
        blocks.add("FractalNet-1", "A( B( z u").level = 2;
        blocks.add("FractalNet-2", "C( x y z u").level = 4;
        blocks.add("FractalNet-3", "D( v w").level = 1;
        blocks.add("Other", "E( v w");
        blocks.remove_last(4);
        blocks
    }

    #[test]
    fn the_best_that_are_like_none_come_back() {
        assert_eq!(restored(&blocks(), r#"{"prefixes": ["fractalnet"]}"#), [2, 3]);
        assert_eq!(restored(&blocks(), r#"{"prefixes": ["fractalnet"], "per_prefix": 1}"#), [2]);
        assert_eq!(restored(&blocks(), "{}"), [0; 0]);
    }

    #[test]
    fn tokens_count_beside_structures() {
        let by_tokens = r#"{"prefixes": ["fractalnet"], "shingle_width": 1, "lexical_max": 0.2, "structural_max": 1}"#;
        assert_eq!(restored(&blocks(), by_tokens), [3]);
    }
}
