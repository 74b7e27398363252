//! Prefix filtering: sets that are similar enough share one of their rarest elements, so only those that do are compared
//! (Bayardo, Ma and Srikant, "Scaling up all pairs similarity search", 2007).

use std::sync::atomic::{AtomicU32, Ordering};

use super::shingles::Shingles;

/// Of a set of this length, so many of its elements that are the rarest ones. Two sets of this Jaccard similarity share at
/// least `threshold * length` elements, so they cannot differ in more than the rest of either: one of the first
/// `length - threshold * length + 1` is shared. Rounding errors make it one more.
pub(super) fn prefix_length(length: usize, threshold: f64) -> usize {
    let shared = (threshold * length as f64 - 1e-9).ceil().max(0.0) as usize;
    (length + 1).saturating_sub(shared.max(1)).min(length)
}

/// The greatest Jaccard similarity of sets of these sizes: the smaller one lies in the larger one.
pub(super) fn most_similar(first: usize, second: usize) -> f64 {
    let (smaller, larger) = (first.min(second), first.max(second));
    if larger == 0 { 1.0 } else { smaller as f64 / larger as f64 }
}

/// How often shingles come, in 16 MiB at most: those that share a counter count together, and one that wraps begins anew.
/// Prefixes are then less rare than they might be, and not wrong: the same counters give all of them.
pub(super) struct Frequencies(Vec<AtomicU32>);

/// Stands for what two empty sets share.
const NOTHING: u32 = 0;

impl Frequencies {
    const MOST_COUNTERS: usize = 1 << 22;

    /// For sets of so many elements, all together.
    pub(super) fn of(elements: usize) -> Self {
        let counters = elements.saturating_mul(2).next_power_of_two().min(Self::MOST_COUNTERS);
        Self((0..counters).map(|_| AtomicU32::new(0)).collect())
    }

    pub(super) fn count(&self, shingles: &Shingles) {
        for hash in shingles.hashes() {
            self.counter(*hash).fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The rarest shingles by the lower halves of their hashes, ascending; never none.
    pub(super) fn prefix(&self, shingles: &Shingles, threshold: f64) -> Vec<u32> {
        if shingles.hashes().is_empty() {
            return vec![NOTHING];
        }
        let mut all: Vec<(u32, u64)> =
            shingles.hashes().iter().map(|hash| (self.counter(*hash).load(Ordering::Relaxed), *hash)).collect();
        all.sort_unstable();
        all.truncate(prefix_length(all.len(), threshold));
        #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
        let mut prefix: Vec<u32> = all.into_iter().map(|(_, hash)| hash as u32).collect();
        prefix.sort_unstable();
        prefix.dedup();
        prefix
    }

    fn counter(&self, hash: u64) -> &AtomicU32 {
        #[expect(clippy::cast_possible_truncation, reason = "the lower bits choose")]
        let place = hash as usize & (self.0.len() - 1);
        &self.0[place]
    }
}

/// The first element that two ascending lists share.
pub(super) fn first_shared(first: &[u32], second: &[u32]) -> Option<u32> {
    let (mut i, mut j) = (0, 0);
    while let (Some(a), Some(b)) = (first.get(i), second.get(j)) {
        match a.cmp(b) {
            std::cmp::Ordering::Equal => return Some(*a),
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_similar_enough_shares_an_element_of_its_prefix() {
        // Of hashes that have few lower halves; some are equal, and some are empty.
        let hash = |element: u64| (element % 5) | (element << 32);
        let set = |number: u64| match number {
            36.. => Shingles::default(),
            number => Shingles::of_hashes((number / 6..number / 6 + 12 + number % 3).map(hash).collect()),
        };
        let sets: Vec<Shingles> = (0..40).map(set).collect();
        let frequencies = Frequencies::of(sets.iter().map(|set| set.hashes().len()).sum());
        sets.iter().for_each(|set| frequencies.count(set));
        for threshold in [0.3, 0.8, 0.9, 1.0] {
            let prefixes: Vec<Vec<u32>> = sets.iter().map(|set| frequencies.prefix(set, threshold)).collect();
            let mut similar = 0;
            for (first, second) in (0..sets.len()).flat_map(|first| (0..first).map(move |second| (first, second))) {
                if super::super::shingles::jaccard(&sets[first], &sets[second]) >= threshold {
                    similar += 1;
                    assert!(first_shared(&prefixes[first], &prefixes[second]).is_some(), "{threshold}");
                }
            }
            assert!(similar > 0, "{threshold}");
        }
    }

    #[test]
    fn the_first_shared_element() {
        assert_eq!(first_shared(&[1, 4, 7], &[2, 4, 7]), Some(4));
        assert_eq!(first_shared(&[1], &[2, 3]), None);
    }
}
