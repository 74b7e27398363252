//! Sets of shingles that take little where codes have much in common.
//!
//! Every shingle has a number, and those that are seen together for the first time have consecutive ones. A code that is
//! made of statements which were seen before is then a few runs of numbers, whatever its length.

use std::ops::Range;
use std::sync::Mutex;

use rustc_hash::FxHashMap;

/// The numbers of all shingles that were seen, by their hashes. They depend on what was seen first, and nothing that is
/// computed from sets of them does.
#[derive(Default)]
pub(super) struct Numbers {
    known: Mutex<FxHashMap<u64, u32>>,
}

/// Consecutive numbers.
pub(super) type Run = Range<u32>;

/// A set of numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct NumberSet {
    /// Sorted, none empty, and none begins where another one ends or before.
    runs: Box<[Run]>,
}

impl Numbers {
    /// The set of the shingles with these hashes.
    pub(super) fn set(&self, hashes: &[u64]) -> NumberSet {
        let mut known = self.known.lock().expect("no panic while it is held");
        let number = |hash: &u64| {
            let next = u32::try_from(known.len()).expect("there are fewer than 2^32 different shingles");
            let number = *known.entry(*hash).or_insert(next);
            number..number + 1
        };
        NumberSet::of(hashes.iter().map(number).collect())
    }
}

impl NumberSet {
    /// All numbers of the runs.
    pub(super) fn of(mut runs: Vec<Run>) -> Self {
        runs.sort_unstable_by_key(|run| run.start);
        let mut joined: Vec<Run> = Vec::new();
        for run in runs {
            match joined.last_mut().filter(|last| run.start <= last.end) {
                Some(last) => last.end = last.end.max(run.end),
                None => joined.push(run),
            }
        }
        Self { runs: joined.into() }
    }

    pub(super) fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// How many numbers there are.
    pub(super) fn len(&self) -> usize {
        self.runs.iter().map(ExactSizeIterator::len).sum()
    }

    fn shared(&self, other: &Self) -> usize {
        let (mut i, mut j, mut shared) = (0, 0, 0);
        while let (Some(a), Some(b)) = (self.runs.get(i), other.runs.get(j)) {
            shared += (a.start.max(b.start)..a.end.min(b.end)).len();
            if a.end <= b.end { i += 1 } else { j += 1 }
        }
        shared
    }
}

/// The size of the intersection over that of the union, in [0, 1]; 1 for two empty sets.
pub(super) fn jaccard(first: &NumberSet, second: &NumberSet) -> f64 {
    let shared = first.shared(second);
    let union = first.len() + second.len() - shared;
    if union == 0 { 1.0 } else { shared as f64 / union as f64 }
}

#[cfg(test)]
mod tests {
    use super::super::shingles::{self, Shingles};
    use super::*;

    #[test]
    fn what_is_seen_together_is_one_run() {
        let numbers = Numbers::default();
        let cases: [(&[u64], Option<Run>); 4] =
            [(&[9, 5, 7], Some(0..3)), (&[1, 2], Some(3..5)), (&[7, 9, 5, 1, 5], Some(0..4)), (&[], None)];
        for (hashes, run) in cases {
            assert_eq!(numbers.set(hashes).runs(), run.as_slice());
        }
    }

    /// Sets of every kind of overlap are as similar as the shingles that they stand for.
    #[test]
    fn sets_are_as_similar_as_their_shingles() {
        let numbers = Numbers::default();
        let mut state = 1_u64;
        let mut hashes = || -> Vec<u64> {
            let mut next = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                state >> 33
            };
            let (count, span) = (next() % 40, next() % 60 + 1);
            (0..count).map(|_| next() % span).collect()
        };
        for _ in 0..500 {
            let (first, second) = (hashes(), hashes());
            let sets = [&first, &second].map(|hashes| numbers.set(hashes));
            let [a, b] = [first, second].map(Shingles::of_hashes);
            assert_eq!(sets[0].len(), a.hashes().len());
            assert_eq!(jaccard(&sets[0], &sets[1]), shingles::jaccard(&a, &b));
        }
    }
}
