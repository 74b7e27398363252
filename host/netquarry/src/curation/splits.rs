//! Which models are for training, for tuning and for testing: what is alike goes to one side.

use std::collections::BTreeMap;

use netquarry_core::dedup::{Banding, BlockSet as _, HashFamily, Hashing, Normalisation, Shingling};
use netquarry_core::fingerprint::blocks::CodeBlocks;
use petgraph::unionfind::UnionFind;
use rand_mt::Mt;
use serde::Serialize;

use super::number;

/// A side of the split.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Split {
    Train,
    Dev,
    Test,
}

impl Split {
    pub const ALL: [Self; 3] = [Self::Train, Self::Dev, Self::Test];

    pub fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Dev => "dev",
            Self::Test => "test",
        }
    }

    /// The side of what has this digest: 80% of all digests are for training, 10% for tuning.
    pub fn of_digest(digest: [u8; 32]) -> Self {
        split_at(fraction(digest))
    }
}

/// The parts of the families that are for training, and for tuning; the rest is for testing.
const TRAIN: f64 = 0.8;
const DEV: f64 = 0.1;

/// From this Jaccard similarity of their shingle sets on two models are of one family.
const SIMILARITY: f64 = 0.5;
const SHINGLING: Shingling = Shingling { normalisation: Normalisation::Code, width: 5 };
/// Of two models of similarity 0.5 these bands find 87%, of 0.6 99%.
const BANDING: Banding =
    Banding { hashing: Hashing { family: HashFamily::MinhashRs, permutations: 128 }, bands: 32, rows: 4 };

/// Models are of one family where their code, with all that it carries, is half the same or their structure is equal,
/// directly or through others. In the order of their first members.
pub(super) fn families(blocks: &CodeBlocks, kept: &[usize]) -> Vec<Vec<usize>> {
    let members = ascending(kept);
    let mut families = UnionFind::new(blocks.len() as usize);
    for (first, second) in blocks.links(&members, SHINGLING, BANDING, SIMILARITY) {
        families.union(first as usize, second as usize);
    }
    for equal in by_structure(blocks, kept).into_values() {
        // What calls nothing has nothing in common.
        if !blocks.structure(number(equal[0])).calls.is_empty() {
            equal.windows(2).for_each(|pair| _ = families.union(pair[0], pair[1]));
        }
    }
    let mut found: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    kept.iter().for_each(|place| found.entry(families.find(*place)).or_default().push(*place));
    in_order(found.into_values(), kept)
}

/// As in NN-DUP models are of one family where their structures are equal. In the order of their first members.
pub(super) fn families_of_structure(blocks: &CodeBlocks, kept: &[usize]) -> Vec<Vec<usize>> {
    in_order(by_structure(blocks, kept).into_values(), kept)
}

fn by_structure(blocks: &CodeBlocks, kept: &[usize]) -> BTreeMap<[u8; 32], Vec<usize>> {
    let members = ascending(kept);
    let digests: BTreeMap<u32, [u8; 32]> = members.iter().copied().zip(blocks.structure_digests(&members)).collect();
    let mut families: BTreeMap<[u8; 32], Vec<usize>> = BTreeMap::new();
    kept.iter().for_each(|place| families.entry(digests[&number(*place)]).or_default().push(*place));
    families
}

fn in_order(families: impl Iterator<Item = Vec<usize>>, kept: &[usize]) -> Vec<Vec<usize>> {
    let places: BTreeMap<usize, usize> = kept.iter().enumerate().map(|(place, model)| (*model, place)).collect();
    let mut families: Vec<Vec<usize>> = families.collect();
    families.sort_by_key(|family| places[&family[0]]);
    families
}

fn ascending(kept: &[usize]) -> Vec<u32> {
    let mut members: Vec<u32> = kept.iter().map(|place| number(*place)).collect();
    members.sort_unstable();
    members
}

/// Each family by itself, by the smallest digest of its members' code: whatever else there is, a family that stays as it is
/// stays on its side.
pub(super) fn by_digest(blocks: &CodeBlocks, families: &[Vec<usize>]) -> BTreeMap<usize, Split> {
    let digest = |place: &usize| blocks.summary(number(*place)).sha256;
    let split = |family: &Vec<usize>| Split::of_digest(family.iter().map(digest).min().expect("a family has a member"));
    families.iter().flat_map(|family| family.iter().map(move |place| (*place, split(family)))).collect()
}

/// A digest as a number in [0, 1).
#[expect(clippy::cast_precision_loss, reason = "the 32 bits that are left fit")]
fn fraction(digest: [u8; 32]) -> f64 {
    // The smallest of many digests begins with zeros.
    let tail = u32::from_be_bytes(digest[28..].try_into().expect("it has four bytes"));
    f64::from(tail) / (u64::from(u32::MAX) + 1) as f64
}

fn split_at(fraction: f64) -> Split {
    match fraction {
        fraction if fraction < TRAIN => Split::Train,
        fraction if fraction < TRAIN + DEV => Split::Dev,
        _ => Split::Test,
    }
}

/// As in NN-DUP: the families are shuffled as CPython's `random.Random(42).shuffle` does, the first 80% of them are for
/// training and the next 10% for tuning.
#[expect(clippy::cast_precision_loss, reason = "there are fewer families than 2^52")]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part of a count")]
pub(super) fn shuffled(families: &[Vec<usize>]) -> BTreeMap<usize, Split> {
    // Python rounds halves to even.
    let part = |of_all: f64| (families.len() as f64 * of_all).round_ties_even() as usize;
    let (train, dev) = (part(TRAIN), part(DEV));
    let mut splits = BTreeMap::new();
    for (place, family) in shuffled_order(families.len()).into_iter().enumerate() {
        let split = match place {
            place if place < train => Split::Train,
            place if place < train + dev => Split::Dev,
            _ => Split::Test,
        };
        splits.extend(families[family].iter().map(|model| (*model, split)));
    }
    splits
}

/// The numbers from 0, as CPython's `random.Random(42).shuffle` leaves them.
pub(super) fn shuffled_order(count: usize) -> Vec<usize> {
    let mut random = Mt::new_with_key([42]);
    let mut order: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        let bits = usize::BITS - (last + 1).leading_zeros();
        let draw = loop {
            let draw = random.next_u32() >> (u32::BITS - bits);
            if draw as usize <= last {
                break draw as usize;
            }
        };
        order.swap(last, draw);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From CPython.
    #[test]
    fn the_order_is_that_of_python() {
        assert_eq!(shuffled_order(10), [7, 3, 2, 8, 5, 6, 9, 4, 0, 1]);
        assert_eq!(shuffled_order(1064)[..8], [647, 515, 898, 744, 1031, 485, 981, 568]);
        assert_eq!(shuffled_order(0), [0; 0]);
    }

    #[test]
    fn parts_round_as_in_python() {
        let sizes = |count: usize| {
            let families: Vec<Vec<usize>> = (0..count).map(|place| vec![place]).collect();
            let splits = shuffled(&families);
            Split::ALL.map(|split| splits.values().filter(|found| **found == split).count())
        };
        assert_eq!([5, 15, 25].map(sizes), [[4, 0, 1], [12, 2, 1], [20, 2, 3]]);
    }

    #[test]
    fn a_fraction_is_of_the_last_bytes() {
        let mut digest = [0; 32];
        assert_eq!(split_at(fraction(digest)), Split::Train);
        digest[28] = 0xe0;
        assert_eq!((fraction(digest), split_at(fraction(digest))), (0.875, Split::Dev));
        assert_eq!(split_at(fraction([0xff; 32])), Split::Test);
    }
}
