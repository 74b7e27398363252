//! What there is to count about a deduplication, and the report of it in Markdown.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use netquarry_core::record::{DedupDecision, DedupOutcome};
use serde::Serialize;

use super::Split;
use crate::quantity::{human_count, human_things};

/// How many of those that stand for most others are named.
const GROUPS: usize = 20;

/// In numbers of models, unless it says otherwise.
pub struct Figures {
    pub unreadable: usize,
    pub read: usize,
    pub kept: usize,
    /// Those that strategies removed, by reason.
    pub removed: BTreeMap<String, Removals>,
    /// Those that were brought back, by reason.
    pub restored: BTreeMap<String, usize>,
    /// Of families.
    pub families: usize,
    /// Which models are one family, and so on one side of the split.
    pub family_is: &'static str,
    pub largest_family: usize,
    pub splits: BTreeMap<Split, usize>,
    /// The models that stand for most others, with for how many.
    pub groups: Vec<(String, usize)>,
}

/// What stays at a pair of thresholds; one that no strategy has is none.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SweepPoint {
    pub lexical: Option<f64>,
    pub structural: Option<f64>,
    pub kept: usize,
}

/// How models were deduplicated.
pub struct Method<'a> {
    pub preset: &'a str,
    /// The strategies in their order, by name; of one that failed it says so.
    pub strategies: &'a [String],
}

/// What was removed for one reason.
#[derive(Default)]
pub struct Removals {
    pub count: usize,
    /// By twentieths; what is 1 stands in the last one.
    pub similarities: BTreeMap<u32, usize>,
    /// The strategy that saw to it.
    pub plugin: String,
}

impl Figures {
    pub(super) fn of(
        unreadable: usize,
        decisions: impl Iterator<Item = DedupDecision>,
        families: &[Vec<usize>],
        family_is: &'static str,
        splits: impl Iterator<Item = Split>,
    ) -> Self {
        let mut figures = Self {
            unreadable,
            read: 0,
            kept: 0,
            removed: BTreeMap::new(),
            restored: BTreeMap::new(),
            families: families.len(),
            family_is,
            largest_family: families.iter().map(Vec::len).max().unwrap_or(0),
            splits: BTreeMap::new(),
            groups: Vec::new(),
        };
        let mut groups: BTreeMap<String, usize> = BTreeMap::new();
        for DedupDecision { decision, reason, survivor, similarity, plugin, .. } in decisions {
            figures.read += 1;
            match decision {
                DedupOutcome::Kept => {
                    figures.kept += 1;
                    if let Some(reason) = reason {
                        *figures.restored.entry(reason).or_default() += 1;
                    }
                }
                DedupOutcome::Removed => {
                    let removals = figures.removed.entry(reason.expect("what is removed has a reason")).or_default();
                    removals.count += 1;
                    removals.plugin = plugin.expect("a strategy removed it");
                    if let Some(similarity) = similarity {
                        *removals.similarities.entry(bin(similarity)).or_default() += 1;
                    }
                    *groups.entry(survivor.expect("something stands for what is removed")).or_default() += 1;
                }
            }
        }
        splits.for_each(|split| *figures.splits.entry(split).or_default() += 1);
        figures.groups = groups.into_iter().collect();
        figures.groups.sort_by(|first, second| second.1.cmp(&first.1).then(first.0.cmp(&second.0)));
        figures.groups.truncate(GROUPS);
        figures
    }

    /// `exact`, `structural near`, with how many, in the order of the words.
    pub fn reasons(&self) -> impl Iterator<Item = (String, usize)> {
        self.removed.iter().map(|(reason, removals)| (reason.replace('_', " "), removals.count))
    }

    /// `0.80 to 0.85` and how many were removed at such a similarity, over all reasons but for exact copies.
    pub fn similarities(&self) -> Vec<(String, usize)> {
        let mut bins: BTreeMap<u32, usize> = BTreeMap::new();
        for (_, removals) in self.removed.iter().filter(|(reason, _)| *reason != "exact") {
            removals.similarities.iter().for_each(|(bin, count)| *bins.entry(*bin).or_default() += count);
        }
        let (Some(first), Some(last)) = (bins.keys().next().copied(), bins.keys().next_back().copied()) else {
            return Vec::new();
        };
        let label = |bin: u32| format!("{:.2}", f64::from(bin) / f64::from(BINS));
        (first..=last).map(|bin| (label(bin), bins.get(&bin).copied().unwrap_or(0))).collect()
    }

    /// The sides of the split that nobody is on, where there is one.
    pub fn empty_splits(&self) -> Vec<&'static str> {
        let is_empty = |split: &Split| self.splits.get(split).is_none_or(|count| *count == 0);
        Split::ALL.iter().filter(|split| !self.splits.is_empty() && is_empty(split)).map(|split| split.name()).collect()
    }

    pub(super) fn markdown(&self, title: &str, method: &Method<'_>) -> String {
        let mut text = format!(
            "# {title}, deduplicated\n\nPreset `{}`: {}. NetQuarry {}.\n\n",
            method.preset,
            method.strategies.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
            env!("CARGO_PKG_VERSION")
        );
        text.push_str("| | models |\n|---|---:|\n");
        let mut row = |what: &str, count: usize| _ = writeln!(text, "| {what} | {} |", human_count(count));
        row("read", self.read);
        self.reasons().for_each(|(reason, count)| row(&format!("removed: {reason}"), count));
        self.restored
            .iter()
            .for_each(|(reason, count)| row(&format!("brought back: {}", reason.replace('_', " ")), *count));
        row("**kept**", self.kept);
        if self.unreadable > 0 {
            row("not readable", self.unreadable);
        }
        let _ = write!(
            text,
            "\n## Splits\n\n{} are one family and on one side: {}, of which the largest has {}.\n\n\
             | | models |\n|---|---:|\n",
            self.family_is,
            human_things(self.families, "family"),
            human_things(self.largest_family, "model"),
        );
        for (split, count) in &self.splits {
            let _ = writeln!(text, "| {} | {} |", split.name(), human_count(*count));
        }
        if !self.groups.is_empty() {
            let _ = write!(text, "\n## Who stands for most others\n\n| model | stands for |\n|---|---:|\n");
            for (block, count) in &self.groups {
                let _ = writeln!(text, "| `{}` | {} |", block.replace('|', "\\|"), human_count(*count));
            }
        }
        text
    }
}

/// Of similarities between 0 and 1.
const BINS: u32 = 20;

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 20")]
fn bin(similarity: f64) -> u32 {
    ((similarity * f64::from(BINS)) as u32).min(BINS - 1)
}
