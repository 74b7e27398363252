//! Bringing back what earlier strategies removed, prefix by prefix.

use std::collections::BTreeSet;

use netquarry_sdk::Refusal;
use netquarry_sdk::dedup::{BlockSummary, Blocks, Decisions, Restoration};

use crate::{Merit, Preference, all_summaries, begins_with, matched_prefix};

/// What is left and what was removed, and what has come back so far.
pub struct Restoring<'a> {
    pub blocks: &'a dyn Blocks,
    /// Of all blocks, by their numbers.
    pub summaries: Vec<BlockSummary>,
    positions: Vec<u32>,
    left: BTreeSet<u32>,
    restorations: Vec<Restoration>,
}

impl<'a> Restoring<'a> {
    pub fn new(blocks: &'a dyn Blocks) -> Self {
        let summaries = all_summaries(blocks).collect();
        let left = (0..blocks.count()).collect();
        Self { blocks, summaries, positions: blocks.positions(), left, restorations: Vec::new() }
    }

    /// How many of those that are left begin with each prefix. One that begins with several counts for the first of them.
    pub fn counts(&self, prefixes: &[String]) -> Vec<usize> {
        let mut counts = vec![0; prefixes.len()];
        let first_prefix = |block: &u32| matched_prefix(&self.summaries[*block as usize].name, prefixes);
        self.left.iter().filter_map(first_prefix).for_each(|prefix| counts[prefix] += 1);
        counts
    }

    /// Brings back at most so many blocks whose names begin with the prefix and whose code none that is left has. They are
    /// looked at from the best one on, and of equals from the one that came first: whether one `is_wanted` depends on
    /// those of the prefix that are left, ascending.
    pub fn restore(
        &mut self,
        prefix: &str,
        most: usize,
        prefer: &[Preference],
        reason: &str,
        is_wanted: impl Fn(&Self, u32, &[u32]) -> Result<bool, Refusal>,
    ) -> Result<(), Refusal> {
        if most == 0 {
            return Ok(());
        }
        let removed = self.removed_of(prefix, prefer);
        let mut others: Vec<u32> = self.left.iter().copied().filter(|block| self.begins(*block, prefix)).collect();
        let mut count = 0;
        for block in removed {
            if count == most {
                break;
            }
            if is_wanted(self, block, &others)? {
                let place = others.partition_point(|other| *other < block);
                others.insert(place, block);
                self.left.insert(block);
                self.restorations.push(Restoration { block, reason: reason.to_owned() });
                count += 1;
            }
        }
        Ok(())
    }

    /// In the order in which they came back.
    pub fn finish(self) -> Decisions {
        self.restorations.into()
    }

    fn removed_of(&self, prefix: &str, prefer: &[Preference]) -> Vec<u32> {
        let code = |block: u32| &*self.summaries[block as usize].sha256;
        let codes: BTreeSet<&str> = self.left.iter().map(|block| code(*block)).collect();
        let is_eligible =
            |block: &u32| !self.left.contains(block) && self.begins(*block, prefix) && !codes.contains(code(*block));
        let found = (self.blocks.count()..self.blocks.total()).filter(is_eligible);
        let merit = |block: u32| Merit::new(self.summaries[block as usize].clone(), prefer);
        let mut found: Vec<(Merit, u32, u32)> =
            found.map(|block| (merit(block), self.positions[block as usize], block)).collect();
        found.sort_by(|(first, came, _), (second, other, _)| first.compare(second, prefer).then(came.cmp(other)));
        found.into_iter().map(|(.., block)| block).collect()
    }

    fn begins(&self, block: u32, prefix: &str) -> bool {
        begins_with(&self.summaries[block as usize].name, prefix)
    }
}
