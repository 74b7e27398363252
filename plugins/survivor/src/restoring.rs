//! Bringing back what earlier strategies removed, prefix by prefix.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use netquarry_sdk::dedup::{BlockSummary, Blocks, Decisions, Restoration};

use crate::{Criterion, all_summaries, begins_with, compare, matched_prefix};

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
        let summaries = all_summaries(blocks);
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
        prefer: &[Criterion],
        reason: &str,
        is_wanted: impl Fn(&Self, u32, &[u32]) -> Result<bool, String>,
    ) -> Result<(), String> {
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

    fn removed_of(&self, prefix: &str, prefer: &[Criterion]) -> Vec<u32> {
        let code = |block: u32| &*self.summaries[block as usize].sha256;
        let codes: BTreeSet<&str> = self.left.iter().map(|block| code(*block)).collect();
        let is_eligible =
            |block: &u32| !self.left.contains(block) && self.begins(*block, prefix) && !codes.contains(code(*block));
        let mut found: Vec<u32> = (self.blocks.count()..self.blocks.total()).filter(is_eligible).collect();
        found.sort_by(|first, second| self.compare(prefer, *first, *second));
        found
    }

    fn compare(&self, prefer: &[Criterion], first: u32, second: u32) -> Ordering {
        let [better, worse] = [first, second].map(|block| &self.summaries[block as usize]);
        let place = |block: u32| self.positions[block as usize];
        compare(prefer, better, worse).then(place(first).cmp(&place(second)))
    }

    fn begins(&self, block: u32, prefix: &str) -> bool {
        begins_with(&self.summaries[block as usize].name, prefix)
    }
}
