//! Locality-sensitive hashing over digests of the bands of signatures, with bands that are chosen at run time.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use petgraph::unionfind::UnionFind;
use rayon::prelude::*;
use sha1::{Digest, Sha1};

use super::ragged::Ragged;
use crate::dedup::{Banding, HashFamily, Hashing, KernelError};

/// NN-DUP's: what `datasketch` chooses for 256 permutations and a threshold of 0.85. The last 9 of 256 values stay
/// unused. A pair of similarity 0.90 becomes a candidate with a probability of 0.85, one of 0.95 with 0.998.
pub const NN_DUP: Banding =
    Banding { hashing: Hashing { family: HashFamily::Datasketch1, permutations: 256 }, bands: 13, rows: 19 };

/// So many candidate pairs are given and no more: they take half a gigabyte.
pub(super) const MOST_PAIRS: usize = 1 << 24;

/// So many bands are looked at together.
const PASS: usize = 8;

/// Digests of some consecutive bands of a signature; 0 for those that it does not have.
pub(super) type Keys = [u64; PASS];

/// One digest for each band, the same for every build of this program. Two different bands share theirs with a probability of
/// 5 in 10^20, and what comes of it is one more candidate.
pub(super) fn keys(signature: &[u32], banding: Banding) -> Vec<u64> {
    let digest = |band: &[u32]| {
        let mut digest = Sha1::new();
        band.iter().for_each(|value| digest.update(value.to_le_bytes()));
        u64::from_le_bytes(*digest.finalize().first_chunk().expect("SHA-1 has twenty bytes"))
    };
    signature.chunks_exact(banding.rows as usize).take(banding.bands as usize).map(digest).collect()
}

/// The bands in passes, one after the other: `keys_of` gives the keys of all members for the bands of a pass, and what
/// stays in memory is no more than that.
pub(super) fn passes(
    banding: Banding,
    keys_of: impl Fn(Range<usize>) -> Vec<Keys>,
) -> impl Iterator<Item = (usize, Vec<Keys>)> {
    let bands = banding.bands as usize;
    let starts = (0..bands).step_by(PASS);
    starts.map(move |start| start..bands.min(start + PASS)).map(move |bands| (bands.len(), keys_of(bands)))
}

/// The places of the members that agree in a band, bucket by bucket, of two at least; each ascending.
pub(super) fn buckets(keys: &[Keys], band: usize) -> Vec<Vec<usize>> {
    let mut order: Vec<(u64, usize)> = keys.iter().map(|keys| keys[band]).zip(0..).collect();
    order.par_sort_unstable();
    let buckets = order.chunk_by(|(first, _), (second, _)| first == second).filter(|bucket| bucket.len() > 1);
    buckets.map(|bucket| bucket.iter().map(|(_, place)| *place).collect()).collect()
}

/// Whether two members agree in an earlier band of the same pass.
pub(super) fn agree_before(keys: &[Keys], band: usize, first: usize, second: usize) -> bool {
    keys[first][..band].iter().zip(&keys[second][..band]).any(|(first, second)| first == second)
}

/// The pairs of places that agree in all rows of some band, each once, the smaller one first, sorted. All pairs of one
/// band's bucket are listed, so a strategy takes exact copies out before. Fails before there are many more than `most`.
pub(super) fn candidate_pairs(
    banding: Banding,
    keys_of: impl Fn(Range<usize>) -> Vec<Keys>,
    most: usize,
) -> Result<Vec<(usize, usize)>, KernelError> {
    let mut pairs = Vec::new();
    for (bands, keys) in passes(banding, keys_of) {
        for band in 0..bands {
            let buckets = buckets(&keys, band);
            let in_band: usize = buckets.iter().map(|bucket| bucket.len() * (bucket.len() - 1) / 2).sum();
            if in_band > most {
                return Err(KernelError::Pairs(most));
            }
            let found = buckets.into_par_iter().flat_map_iter(pairs_of_bucket);
            pairs.par_extend(found.filter(|(first, second)| !agree_before(&keys, band, *first, *second)));
            // Those of earlier passes may be in it twice.
            if pairs.len() > most {
                sort_out(&mut pairs);
            }
            if pairs.len() > most {
                return Err(KernelError::Pairs(most));
            }
        }
        sort_out(&mut pairs);
    }
    Ok(pairs)
}

fn sort_out(pairs: &mut Vec<(usize, usize)>) {
    pairs.par_sort_unstable();
    pairs.dedup();
}

fn pairs_of_bucket(bucket: Vec<usize>) -> impl Iterator<Item = (usize, usize)> {
    let places = 0..bucket.len();
    let all = places.flat_map(move |second| (0..second).map(move |first| (first, second)));
    all.map(move |(first, second)| (bucket[first], bucket[second]))
}

/// The places of `count` members that agree in all rows of some band with each other, directly or through others: groups of
/// two at least, each ascending, in the order of their first ones.
pub(super) fn candidate_groups(
    count: usize,
    banding: Banding,
    keys_of: impl Fn(Range<usize>) -> Vec<Keys>,
) -> Vec<Vec<usize>> {
    let mut sets = UnionFind::<usize>::new(count);
    for (bands, keys) in passes(banding, keys_of) {
        for bucket in (0..bands).flat_map(|band| buckets(&keys, band)) {
            bucket.windows(2).for_each(|pair| _ = sets.union(pair[0], pair[1]));
        }
    }
    groups(sets, count)
}

/// The places below `count` that belong together, of two at least, each ascending, in the order of their first ones.
pub(super) fn groups(mut sets: UnionFind<usize>, count: usize) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut first_of = HashMap::new();
    for place in 0..count {
        let first = *first_of.entry(sets.find_mut(place)).or_insert(place);
        groups.entry(first).or_default().push(place);
    }
    groups.into_values().filter(|group| group.len() > 1).collect()
}

/// The places of `count` members that agree in all rows of some band, band by band.
pub(super) fn all_buckets(banding: Banding, keys_of: impl Fn(Range<usize>) -> Vec<Keys>) -> Ragged {
    let mut all = Ragged::default();
    for (bands, keys) in passes(banding, keys_of) {
        let place = |place: usize| u32::try_from(place).expect("blocks are numbered with 32 bits");
        let of_bands = (0..bands).flat_map(|band| buckets(&keys, band));
        of_bands.for_each(|bucket| all.push(bucket.into_iter().map(place)));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bands for which the candidates are closest to the pairs of at least `threshold`: least area of false positives
    /// below it and of false negatives above it, weighed alike, as in `datasketch`.
    fn banding_for(threshold: f64, permutations: u32) -> Banding {
        let hashing = Hashing { permutations, ..NN_DUP.hashing };
        let mut best = (f64::INFINITY, Banding { hashing, bands: 1, rows: 1 });
        for bands in 1..=permutations {
            for rows in 1..=permutations / bands {
                let error = false_positive_area(threshold, bands, rows) * 0.5
                    + false_negative_area(threshold, bands, rows) * 0.5;
                if error < best.0 {
                    best = (error, Banding { hashing, bands, rows });
                }
            }
        }
        best.1
    }

    /// The probability that two sets of this similarity collide in some band.
    fn candidate_probability(similarity: f64, bands: u32, rows: u32) -> f64 {
        1.0 - (1.0 - similarity.powf(f64::from(rows))).powf(f64::from(bands))
    }

    fn false_positive_area(threshold: f64, bands: u32, rows: u32) -> f64 {
        integral(|similarity| candidate_probability(similarity, bands, rows), 0.0, threshold)
    }

    fn false_negative_area(threshold: f64, bands: u32, rows: u32) -> f64 {
        integral(|similarity| 1.0 - candidate_probability(similarity, bands, rows), threshold, 1.0)
    }

    /// By the midpoint rule. `datasketch` has an adaptive one; they agree about the least error for the thresholds and
    /// sizes that the tests list.
    fn integral(function: impl Fn(f64) -> f64, from: f64, to: f64) -> f64 {
        const STEPS: u32 = 512;
        let width = (to - from) / f64::from(STEPS);
        let heights = (0..STEPS).map(|step| function(from + (f64::from(step) + 0.5) * width));
        heights.sum::<f64>() * width
    }

    #[test]
    fn bands_are_those_of_datasketch() {
        // From `datasketch.lsh._optimal_param(threshold, permutations, 0.5, 0.5)` of datasketch 1.6.5.
        let expected = [
            (0.5, 128, 25, 5),
            (0.6, 128, 18, 7),
            (0.7, 128, 14, 9),
            (0.8, 128, 9, 13),
            (0.85, 128, 8, 16),
            (0.9, 128, 5, 25),
            (0.95, 128, 3, 42),
            (0.99, 128, 1, 128),
            (0.5, 256, 42, 6),
            (0.6, 256, 32, 8),
            (0.7, 256, 25, 10),
            (0.8, 256, 17, 15),
            (0.85, 256, 13, 19),
            (0.9, 256, 9, 28),
            (0.95, 256, 5, 51),
            (0.99, 256, 1, 166),
        ];
        for (threshold, permutations, bands, rows) in expected {
            let hashing = Hashing { permutations, ..NN_DUP.hashing };
            assert_eq!(banding_for(threshold, permutations), Banding { hashing, bands, rows }, "{threshold}");
        }
        assert_eq!(banding_for(0.85, 256), NN_DUP);
    }

    #[test]
    fn nn_dups_bands_miss_few_similar_pairs() {
        let probability = |similarity| candidate_probability(similarity, NN_DUP.bands, NN_DUP.rows);
        assert!((probability(0.90) - 0.85).abs() < 0.005, "{}", probability(0.90));
        assert!((probability(0.95) - 0.998).abs() < 0.001, "{}", probability(0.95));
    }

    #[test]
    fn members_that_agree_in_a_band_are_candidates_once() {
        let banding = Banding { bands: 2, rows: 2, ..NN_DUP };
        let signatures = [[1, 2, 3, 4], [1, 2, 3, 4], [9, 9, 3, 4], [1, 9, 9, 4], [2, 1, 4, 3]];
        let keys = keys_of(&signatures, banding);
        let pairs = |most| candidate_pairs(banding, &keys, most);
        assert_eq!(pairs(3), Ok(vec![(0, 1), (0, 2), (1, 2)]));
        assert_eq!(pairs(2), Err(KernelError::Pairs(2)));
        assert_eq!(candidate_groups(5, banding, &keys), [[0, 1, 2]]);
        let none = |_| Vec::new();
        assert_eq!(candidate_pairs(banding, none, 0), Ok(Vec::new()));
        assert!(candidate_groups(0, banding, none).is_empty());
    }

    /// Bands of several passes against every pair and every row.
    #[test]
    fn candidates_are_those_of_brute_force() {
        let banding = Banding { bands: 19, rows: 2, ..NN_DUP };
        let value = |place: u32, row: u32| (place + 1) * 40_503 % (7 + row) / 3;
        let signatures: Vec<[u32; 38]> =
            (0..60).map(|place| std::array::from_fn(|row| value(place, row as u32))).collect();
        let agree = |(first, second): &(usize, usize)| {
            let bands = signatures[*first].chunks(2).zip(signatures[*second].chunks(2));
            bands.into_iter().any(|(first, second)| first == second)
        };
        let all = (0..60).flat_map(|first| (first + 1..60).map(move |second| (first, second)));
        let expected: Vec<(usize, usize)> = all.filter(agree).collect();
        assert!(!expected.is_empty() && expected.len() < 60 * 59 / 2, "{}", expected.len());
        let keys = keys_of(&signatures, banding);
        assert_eq!(candidate_pairs(banding, &keys, MOST_PAIRS), Ok(expected.clone()));
        // Pairs that agree in bands of several passes are no more than others.
        assert_eq!(candidate_pairs(banding, &keys, expected.len()), Ok(expected.clone()));
        assert_eq!(candidate_pairs(banding, &keys, expected.len() - 1), Err(KernelError::Pairs(expected.len() - 1)));
        let mut sets = UnionFind::<usize>::new(60);
        expected.iter().for_each(|(first, second)| _ = sets.union(*first, *second));
        for (first, second) in
            candidate_groups(60, banding, &keys).iter().flat_map(|group| group.iter().zip(&group[1..]))
        {
            assert!(sets.equiv(*first, *second));
        }
        let grouped: usize = candidate_groups(60, banding, &keys).iter().map(Vec::len).sum();
        let paired: std::collections::BTreeSet<_> =
            expected.iter().flat_map(|(first, second)| [first, second]).collect();
        assert_eq!(grouped, paired.len());
    }

    fn keys_of<const N: usize>(signatures: &[[u32; N]], banding: Banding) -> impl Fn(Range<usize>) -> Vec<Keys> {
        let all: Vec<Vec<u64>> = signatures.iter().map(|signature| keys(signature, banding)).collect();
        move |bands| {
            let of_pass = |keys: &Vec<u64>| {
                let mut pass = Keys::default();
                pass[..bands.len()].copy_from_slice(&keys[bands.clone()]);
                pass
            };
            all.iter().map(of_pass).collect()
        }
    }
}
