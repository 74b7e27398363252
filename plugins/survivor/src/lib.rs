//! Which of several duplicates stays, and what else the deduplication strategies share.

use std::cmp::Ordering;

use netquarry_sdk::ConfigurationError;
use netquarry_sdk::dedup::{BlockSummary, Blocks};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub mod restoring;

/// One thing in which a block can be better than another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Criterion {
    /// The higher level of validation.
    Level,
    /// The higher priority of the source.
    Priority,
    /// The higher accuracy; none is worst.
    Accuracy,
    /// The longer code.
    Longer,
    /// The shorter code.
    Shorter,
    /// The name that sorts first.
    Name,
    /// The identity that sorts first.
    Identity,
}

/// What NetQuarry prefers where nobody configures anything else: what is best validated, from the source that the user
/// ranks highest, in the fewest characters.
pub const DEFAULT: [Criterion; 5] =
    [Criterion::Level, Criterion::Priority, Criterion::Accuracy, Criterion::Shorter, Criterion::Identity];

/// Compares two blocks by the criteria in turn: the smaller one is the better. Equal blocks keep their order.
pub fn compare(criteria: &[Criterion], first: &BlockSummary, second: &BlockSummary) -> Ordering {
    let by = |criterion: &Criterion| match criterion {
        Criterion::Level => second.level.cmp(&first.level),
        Criterion::Priority => second.priority.cmp(&first.priority),
        Criterion::Accuracy => accuracy(second).total_cmp(&accuracy(first)),
        Criterion::Longer => second.characters.cmp(&first.characters),
        Criterion::Shorter => first.characters.cmp(&second.characters),
        Criterion::Name => first.name.cmp(&second.name),
        Criterion::Identity => first.id.cmp(&second.id),
    };
    criteria.iter().map(by).find(|ordering| ordering.is_ne()).unwrap_or(Ordering::Equal)
}

fn accuracy(summary: &BlockSummary) -> f64 {
    summary.accuracy.unwrap_or(f64::NEG_INFINITY)
}

/// The summaries of all blocks that are left, fetched in pieces of a good size.
pub fn summaries(blocks: &dyn Blocks) -> Vec<BlockSummary> {
    summaries_up_to(blocks, blocks.count())
}

/// Likewise, and behind them those of the blocks that were removed.
pub fn all_summaries(blocks: &dyn Blocks) -> Vec<BlockSummary> {
    summaries_up_to(blocks, blocks.total())
}

fn summaries_up_to(blocks: &dyn Blocks, count: u32) -> Vec<BlockSummary> {
    const PIECE: u32 = 1000;
    (0..count).step_by(PIECE as usize).flat_map(|start| blocks.summaries(start, PIECE.min(count - start))).collect()
}

/// Refuses what is no similarity, at this place of a configuration.
pub fn check_similarity(pointer: &str, value: f64) -> Result<(), ConfigurationError> {
    if (0.0..=1.0).contains(&value) {
        return Ok(());
    }
    Err(ConfigurationError { pointer: pointer.to_owned(), message: "a similarity is between 0 and 1".to_owned() })
}

/// The position of the first prefix with which the name begins. Only letters and digits of ASCII count, whatever their
/// case. Without one, a position behind all others.
pub fn prefix_rank(name: &str, prefixes: &[String]) -> usize {
    matched_prefix(name, prefixes).unwrap_or(prefixes.len())
}

/// The position of the first prefix with which the name begins, if there is one.
pub fn matched_prefix(name: &str, prefixes: &[String]) -> Option<usize> {
    prefixes.iter().position(|prefix| begins_with(name, prefix))
}

/// By letters and digits of ASCII, whatever their case.
pub fn begins_with(name: &str, prefix: &str) -> bool {
    normalised(name).starts_with(&normalised(prefix))
}

fn normalised(name: &str) -> String {
    let letters = name.chars().flat_map(char::to_lowercase);
    letters.filter(|character| character.is_ascii_lowercase() || character.is_ascii_digit()).collect()
}

#[cfg(test)]
mod tests {
    use netquarry_sdk::testing::MemoryBlocks;

    use super::*;

    const NN_DUP: [Criterion; 3] = [Criterion::Accuracy, Criterion::Longer, Criterion::Name];

    #[test]
    fn criteria_decide_in_turn() {
        let mut blocks = MemoryBlocks::default();
        blocks.add("long", "a b c d").level = 5;
        blocks.add("short", "a b").level = 5;
        blocks.add("accurate", "a").accuracy = Some(0.5);
        let summaries = summaries(&blocks);
        let best = |criteria: &[Criterion]| {
            let best = summaries.iter().min_by(|first, second| compare(criteria, first, second));
            best.expect("there are some").name.clone()
        };
        assert_eq!(best(&DEFAULT), "short");
        assert_eq!(best(&NN_DUP), "accurate");
        assert_eq!(best(&[Criterion::Longer]), "long");
        assert_eq!(best(&[Criterion::Name]), "accurate");
    }

    #[test]
    fn an_accuracy_beats_none_even_a_negative_one() {
        let mut blocks = MemoryBlocks::default();
        blocks.add("none", "a");
        blocks.add("some", "a").accuracy = Some(-3.0);
        let summaries = summaries(&blocks);
        assert_eq!(compare(&NN_DUP, &summaries[1], &summaries[0]), Ordering::Less);
    }

    #[test]
    fn prefixes_compare_by_letters_and_digits() {
        let prefixes = ["FractalNet".to_owned(), "rag-".to_owned()];
        assert_eq!(prefix_rank("RAG_block", &prefixes), 1);
        assert_eq!(prefix_rank("fractal-net-7", &prefixes), 0);
        assert_eq!(prefix_rank("vgg", &prefixes), 2);
    }
}
