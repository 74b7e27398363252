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
pub enum Preference {
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
pub const DEFAULT: [Preference; 5] =
    [Preference::Level, Preference::Priority, Preference::Accuracy, Preference::Shorter, Preference::Identity];

/// The summaries of all blocks that are left, fetched in pieces of a good size: a million of them are 300 MB.
pub fn summaries(blocks: &dyn Blocks) -> impl Iterator<Item = BlockSummary> {
    summaries_up_to(blocks, blocks.count())
}

/// Likewise, and behind them those of the blocks that were removed.
pub fn all_summaries(blocks: &dyn Blocks) -> impl Iterator<Item = BlockSummary> {
    summaries_up_to(blocks, blocks.total())
}

fn summaries_up_to(blocks: &dyn Blocks, count: u32) -> impl Iterator<Item = BlockSummary> {
    const PIECE: u32 = 1000;
    (0..count).step_by(PIECE as usize).flat_map(move |start| blocks.summaries(start, PIECE.min(count - start)))
}

/// Which of the blocks that are left is better than another: of each one what the preferences ask for, and no more.
pub struct Merits {
    preferences: Vec<Preference>,
    merits: Vec<Merit>,
}

/// What is compared of a block.
pub(crate) struct Merit {
    priority: i32,
    level: u8,
    accuracy: f64,
    characters: u64,
    /// Empty where no preference asks for it.
    name: Box<str>,
    /// Likewise.
    id: Box<str>,
}

impl Merits {
    pub fn of(blocks: &dyn Blocks, preferences: &[Preference]) -> Self {
        let mut merits = Vec::with_capacity(blocks.count() as usize);
        merits.extend(summaries(blocks).map(|summary| Merit::new(summary, preferences)));
        Self { preferences: preferences.to_vec(), merits }
    }

    /// The smaller one is the better. Equal blocks keep their order.
    pub fn compare(&self, first: u32, second: u32) -> Ordering {
        let [first, second] = [first, second].map(|block| &self.merits[block as usize]);
        first.compare(second, &self.preferences)
    }
}

impl Merit {
    pub(crate) fn new(summary: BlockSummary, preferences: &[Preference]) -> Self {
        let text =
            |text: String, preference| if preferences.contains(&preference) { text.into() } else { Box::default() };
        Self {
            priority: summary.priority,
            level: summary.level,
            // None is worst.
            accuracy: summary.accuracy.unwrap_or(f64::NEG_INFINITY),
            characters: summary.characters,
            name: text(summary.name, Preference::Name),
            id: text(summary.id, Preference::Identity),
        }
    }

    /// By the preferences in turn.
    pub(crate) fn compare(&self, other: &Self, preferences: &[Preference]) -> Ordering {
        let by = |preference: &Preference| match preference {
            Preference::Level => other.level.cmp(&self.level),
            Preference::Priority => other.priority.cmp(&self.priority),
            Preference::Accuracy => other.accuracy.total_cmp(&self.accuracy),
            Preference::Longer => other.characters.cmp(&self.characters),
            Preference::Shorter => self.characters.cmp(&other.characters),
            Preference::Name => self.name.cmp(&other.name),
            Preference::Identity => self.id.cmp(&other.id),
        };
        preferences.iter().map(by).find(|ordering| ordering.is_ne()).unwrap_or(Ordering::Equal)
    }
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

    const NN_DUP: [Preference; 3] = [Preference::Accuracy, Preference::Longer, Preference::Name];

    #[test]
    fn preferences_decide_in_turn() {
        let mut blocks = MemoryBlocks::default();
        blocks.add("long", "a b c d").level = 5;
        blocks.add("short", "a b").level = 5;
        blocks.add("accurate", "a").accuracy = Some(0.5);
        let best = |preferences: &[Preference]| {
            let merits = Merits::of(&blocks, preferences);
            (0..3)
                .min_by(|first, second| merits.compare(*first, *second))
                .map(|best| ["long", "short", "accurate"][best as usize])
        };
        assert_eq!(best(&DEFAULT), Some("short"));
        assert_eq!(best(&NN_DUP), Some("accurate"));
        assert_eq!(best(&[Preference::Longer]), Some("long"));
        assert_eq!(best(&[Preference::Name]), Some("accurate"));
        assert_eq!(best(&[]), Some("long"));
    }

    #[test]
    fn an_accuracy_beats_none_even_a_negative_one() {
        let mut blocks = MemoryBlocks::default();
        blocks.add("none", "a");
        blocks.add("some", "a").accuracy = Some(-3.0);
        assert_eq!(Merits::of(&blocks, &NN_DUP).compare(1, 0), Ordering::Less);
    }

    #[test]
    fn prefixes_compare_by_letters_and_digits() {
        let prefixes = ["FractalNet".to_owned(), "rag-".to_owned()];
        assert_eq!(prefix_rank("RAG_block", &prefixes), 1);
        assert_eq!(prefix_rank("fractal-net-7", &prefixes), 0);
        assert_eq!(prefix_rank("vgg", &prefixes), 2);
    }
}
