//! Blocks that call the same things with about the same hyperparameters.

use std::collections::BTreeMap;

use netquarry_sdk::dedup::{Blocks, Decisions, DedupStrategy, Removal, Shingling, SimilarBlocks, SimilarPair};
use netquarry_sdk::{ConfigurationError, Plugin, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use survivor::{Merits, Preference, all_summaries};

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Configuration {
    /// The similarity of structures from which on two blocks are near-duplicates.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub threshold: f64,
    /// The least Jaccard similarity of shingles of tokens that a block has with its survivor; 0 asks for none.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub lexical_floor: f64,
    /// Also take blocks without any call for equal to each other.
    pub compare_empty: bool,
    /// What makes the block better that stays, in turn; where all are equal, the first one stays.
    pub prefer: Vec<Preference>,
    pub order: Order,
    /// Consecutive tokens per shingle.
    #[schemars(range(min = 1))]
    pub shingle_width: u32,
    /// How tokens are normalised, by the host's name for it.
    pub normalisation: String,
}

/// The order in which blocks are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// That of the blocks.
    Position,
    /// A block stands where the first one of the same code stood, which may have been removed.
    FirstCopy,
}

impl Default for Configuration {
    fn default() -> Self {
        Self {
            threshold: 0.95,
            lexical_floor: 0.9,
            compare_empty: false,
            prefer: survivor::DEFAULT.to_vec(),
            order: Order::Position,
            shingle_width: 10,
            normalisation: "class".to_owned(),
        }
    }
}

pub struct Structural {
    configuration: Configuration,
}

impl Plugin for Structural {
    const NAME: &str = "dedup-structural";
    const VERSION: &str = env!("CARGO_PKG_VERSION");
    const DOCUMENTATION: &str = include_str!("../README.md");
    const EXAMPLES: &[(&str, &str)] = &[("same-layers", include_str!("../examples/same-layers.json"))];
    type Configuration = Configuration;

    fn new(configuration: Configuration) -> Result<Self, ConfigurationError> {
        survivor::check_similarity("/threshold", configuration.threshold)?;
        survivor::check_similarity("/lexical_floor", configuration.lexical_floor)?;
        Ok(Self { configuration })
    }
}

impl DedupStrategy for Structural {
    fn deduplicate(&self, blocks: &dyn Blocks) -> Result<Decisions, Refusal> {
        let shingling = Shingling {
            normalisation: self.configuration.normalisation.clone(),
            width: self.configuration.shingle_width,
        };
        let count = blocks.count();
        let mut deciding = Deciding {
            blocks,
            configuration: &self.configuration,
            shingling,
            merits: Merits::of(blocks, &self.configuration.prefer),
            ranks: ranks(blocks, self.configuration.order),
            removed: vec![None; count as usize],
        };
        deciding.remove_equal()?;
        deciding.remove_near()?;
        Ok(deciding.removals().into())
    }
}

/// So many blocks are looked up together: the host does so in parallel.
const BATCH: usize = 512;
/// From so many pairs on, of 16 bytes, an answer ends.
const MOST_PAIRS: u32 = 1 << 16;

/// What is known and what is decided so far.
struct Deciding<'a> {
    blocks: &'a dyn Blocks,
    configuration: &'a Configuration,
    shingling: Shingling,
    merits: Merits,
    /// Which block comes before which.
    ranks: Vec<u32>,
    removed: Vec<Option<Removed>>,
}

fn ranks(blocks: &dyn Blocks, order: Order) -> Vec<u32> {
    let mut positions = blocks.positions();
    if order == Order::FirstCopy {
        let mut first: BTreeMap<String, u32> = BTreeMap::new();
        for (summary, position) in all_summaries(blocks).zip(&positions) {
            first.entry(summary.sha256).and_modify(|first| *first = (*first).min(*position)).or_insert(*position);
        }
        positions = all_summaries(blocks).map(|summary| first[&summary.sha256]).collect();
    }
    positions
}

#[derive(Clone, Copy)]
struct Removed {
    by: u32,
    reason: &'static str,
    similarity: f64,
}

impl Deciding<'_> {
    /// In each group of equal structures the best block stays, and further ones that are too far from it by their
    /// tokens.
    fn remove_equal(&mut self) -> Result<(), Refusal> {
        let members = self.members();
        let mut by_structure: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        for (digest, block) in self.blocks.structure_digests(&members).into_iter().zip(members) {
            by_structure.entry(digest).or_default().push(block);
        }
        for mut waiting in by_structure.into_values() {
            waiting.sort_by(|first, second| self.merits.compare(*first, *second).then(self.in_order(*first, *second)));
            while let Some((survivor, others)) = waiting.split_first() {
                let (survivor, others) = (*survivor, others.to_vec());
                let is_close = self.are_close(survivor, &others)?;
                let (gone, stays): (Vec<_>, Vec<_>) =
                    others.into_iter().zip(is_close).partition(|(_, is_close)| *is_close);
                for (block, _) in gone {
                    self.remove(block, Removed { by: survivor, reason: "structural_equal", similarity: 1.0 });
                }
                waiting = stays.into_iter().map(|(block, _)| block).collect();
            }
        }
        Ok(())
    }

    /// Of each pair of near-duplicates the worse one goes, pair by pair in the order of the blocks, unless one of them
    /// is gone by then.
    fn remove_near(&mut self) -> Result<(), Refusal> {
        let mut order = self.members();
        let index = self.blocks.structure_index(&order, self.configuration.threshold);
        order.sort_by(|first, second| self.in_order(*first, *second));
        for batch in order.chunks(BATCH) {
            let mut waiting: Vec<u32> = batch.iter().copied().filter(|block| !self.is_gone(*block)).collect();
            while !waiting.is_empty() {
                let SimilarBlocks { pairs, looked_up } = index.similar(&waiting, MOST_PAIRS);
                for near in pairs.chunk_by(|one, other| one.first == other.first) {
                    self.remove_near_of(near)?;
                }
                waiting.drain(..looked_up as usize);
            }
        }
        Ok(())
    }

    /// `near` are the pairs of a block with all that are near it.
    fn remove_near_of(&mut self, near: &[SimilarPair]) -> Result<(), Refusal> {
        let mut later: Vec<&SimilarPair> =
            near.iter().filter(|pair| self.in_order(pair.first, pair.second).is_lt()).collect();
        later.sort_by(|one, other| self.in_order(one.second, other.second));
        for pair in later {
            if self.is_gone(pair.first) {
                break;
            }
            if self.is_gone(pair.second) || !self.are_close(pair.first, &[pair.second])?[0] {
                continue;
            }
            let first_is_better = self.merits.compare(pair.first, pair.second).is_le();
            let (better, worse) = if first_is_better { (pair.first, pair.second) } else { (pair.second, pair.first) };
            self.remove(worse, Removed { by: better, reason: "structural_near", similarity: pair.similarity });
        }
        Ok(())
    }

    fn is_gone(&self, block: u32) -> bool {
        self.removed[block as usize].is_some()
    }

    /// The blocks that are still there and may be compared.
    fn members(&self) -> Vec<u32> {
        let may_be_compared = |block: &u32| {
            !self.is_gone(*block)
                && (self.configuration.compare_empty || !self.blocks.structure(*block).calls.is_empty())
        };
        (0..self.blocks.count()).filter(may_be_compared).collect()
    }

    /// Whether the tokens of each of the others are close enough to those of the block.
    fn are_close(&self, block: u32, others: &[u32]) -> Result<Vec<bool>, Refusal> {
        let floor = self.configuration.lexical_floor;
        if floor <= 0.0 {
            return Ok(vec![true; others.len()]);
        }
        let similarities = self.blocks.jaccard(block, others, &self.shingling)?;
        Ok(similarities.into_iter().map(|similarity| similarity >= floor).collect())
    }

    /// Blocks of one rank are in the order of their numbers.
    fn in_order(&self, first: u32, second: u32) -> std::cmp::Ordering {
        self.ranks[first as usize].cmp(&self.ranks[second as usize]).then(first.cmp(&second))
    }

    fn remove(&mut self, block: u32, removed: Removed) {
        self.removed[block as usize] = Some(removed);
    }

    /// A survivor may have been removed later, by a better one: what it stood for then belongs to that one.
    fn removals(&self) -> Vec<Removal> {
        let survivor = |mut block: u32| {
            while let Some(removed) = self.removed[block as usize] {
                block = removed.by;
            }
            block
        };
        let removal = |(block, removed): (u32, &Option<Removed>)| {
            let Removed { by, reason, similarity } = (*removed)?;
            Some(Removal { block, survivor: survivor(by), reason: reason.to_owned(), similarity: Some(similarity) })
        };
        (0..).zip(&self.removed).filter_map(removal).collect()
    }
}

netquarry_sdk::export!(Structural as DedupStrategy);

#[cfg(test)]
mod tests {
    use netquarry_sdk::configured;
    use netquarry_sdk::testing::MemoryBlocks;

    use super::*;

    fn run(blocks: &MemoryBlocks, configuration: &str) -> Vec<(u32, u32, String)> {
        let structural = configured::<Structural>(configuration).expect("the configuration is right");
        let decisions = structural.deduplicate(blocks).expect("it has no reason to fail");
        decisions.removals.into_iter().map(|removal| (removal.block, removal.survivor, removal.reason)).collect()
    }

    const WITHOUT_TOKENS: &str = r#"{"lexical_floor": 0, "prefer": ["level"], "threshold": 0.6}"#;

    fn removed(block: u32, survivor: u32, reason: &str) -> (u32, u32, String) {
        (block, survivor, reason.to_owned())
    }

    #[test]
    fn equal_structures_leave_the_best() {
        let mut blocks = MemoryBlocks::default();
        blocks.add("a", "Conv2d( ReLU( x");
        blocks.add("b", "Conv2d( ReLU( y").level = 5;
        blocks.add("c", "ReLU( Conv2d(");
        assert_eq!(run(&blocks, r#"{"lexical_floor": 0}"#)[..1], [removed(0, 1, "structural_equal")]);
    }

    #[test]
    fn near_structures_leave_the_better_of_a_pair_and_chains_end_at_who_stays() {
        let mut blocks = MemoryBlocks::default();
        blocks.add("a", "A( B( C( D(");
        blocks.add("b", "A( B( C( D( E(").level = 4;
        blocks.add("c", "A( B( C( D( E( F(").level = 5;
        let expected = [removed(0, 2, "structural_near"), removed(1, 2, "structural_near")];
        assert_eq!(run(&blocks, WITHOUT_TOKENS), expected);
    }

    /// The last one is a copy of the second, and was removed.
    #[test]
    fn a_block_can_stand_where_its_first_copy_stood() {
        let mut blocks = MemoryBlocks::default();
        blocks.add("a", "A( B( C( D(");
        blocks.add("b", "A( B( C( D( E(");
        blocks.add("c", "A( B( C( D( F(");
        blocks.add("copy of c", "A( B( C( D( F(");
        blocks.remove_last(1);
        let first_copy = r#"{"lexical_floor": 0, "prefer": [], "threshold": 0.8, "order": "first_copy"}"#;
        assert_eq!(run(&blocks, first_copy), [removed(1, 0, "structural_near"), removed(2, 0, "structural_near")]);
        blocks.move_to(3, 0);
        blocks.move_to(0, 3);
        assert_eq!(run(&blocks, first_copy), [removed(0, 2, "structural_near")]);
    }

    #[test]
    fn equal_calls_with_different_tokens_are_different_blocks() {
        let mut blocks = MemoryBlocks::default();
        blocks.add("a", "mean( one two three four five six seven eight nine ten");
        blocks.add("b", "mean( eins zwei drei vier fünf sechs sieben acht neun zehn");
        assert_eq!(run(&blocks, r#"{"shingle_width": 1}"#), []);
        assert_eq!(run(&blocks, WITHOUT_TOKENS), [removed(1, 0, "structural_equal")]);
    }

    #[test]
    fn blocks_without_calls_are_compared_only_when_asked_for() {
        let mut blocks = MemoryBlocks::default();
        blocks.add("a", "pass");
        blocks.add("b", "nothing");
        assert_eq!(run(&blocks, WITHOUT_TOKENS), []);
        let nn_dup = r#"{"threshold": 0.9, "lexical_floor": 0, "compare_empty": true, "prefer": []}"#;
        assert_eq!(run(&blocks, nn_dup), [removed(1, 0, "structural_equal")]);
    }
}
