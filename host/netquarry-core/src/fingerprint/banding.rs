//! Locality-sensitive hashing over signatures that are there already, with bands that are chosen at run time.

use std::collections::{BTreeMap, HashMap};

use petgraph::unionfind::UnionFind;
use rayon::prelude::*;

use crate::dedup::{Banding, HashFamily, Hashing};

/// NN-DUP's: what `datasketch` chooses for 256 permutations and a threshold of 0.85. The last 9 of 256 values stay
/// unused. A pair of similarity 0.90 becomes a candidate with a probability of 0.85, one of 0.95 with 0.998.
pub const NN_DUP: Banding =
    Banding { hashing: Hashing { family: HashFamily::Datasketch1, permutations: 256 }, bands: 13, rows: 19 };

/// A block's number, and its signature.
pub type Member<'s> = (u32, &'s [u32]);

/// The pairs that agree in all rows of some band, each once, the smaller number first, sorted. Members are ascending by
/// number. All pairs of one band's bucket are listed, so a strategy takes exact copies out before.
pub fn candidate_pairs(members: &[Member<'_>], banding: Banding) -> Vec<(u32, u32)> {
    let rows = banding.rows as usize;
    let mut pairs: Vec<(u32, u32)> =
        (0..banding.bands as usize).into_par_iter().flat_map_iter(|band| band_pairs(members, band, rows)).collect();
    pairs.sort_unstable();
    pairs
}

/// The members that agree in all rows of some band with each other, directly or through others: groups of two at least, each
/// ascending, in the order of their first ones.
pub fn candidate_groups(members: &[Member<'_>], banding: Banding) -> Vec<Vec<u32>> {
    let rows = banding.rows as usize;
    // Places among the members, of whom each one points to the one before it in its bucket.
    let links: Vec<Vec<(usize, usize)>> =
        (0..banding.bands as usize).into_par_iter().map(|band| band_links(members, band, rows)).collect();
    let mut sets = UnionFind::<usize>::new(members.len());
    for (first, second) in links.into_iter().flatten() {
        sets.union(first, second);
    }
    let mut groups: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
    let mut first_of = HashMap::new();
    for (place, (number, _)) in members.iter().enumerate() {
        let first = *first_of.entry(sets.find_mut(place)).or_insert(place);
        groups.entry(first).or_default().push(*number);
    }
    groups.into_values().filter(|group| group.len() > 1).collect()
}

fn band_links(members: &[Member<'_>], band: usize, rows: usize) -> Vec<(usize, usize)> {
    let band = band * rows..(band + 1) * rows;
    let mut last_in_bucket: HashMap<&[u32], usize> = HashMap::new();
    let signatures = members.iter().enumerate();
    signatures
        .filter_map(|(place, (_, signature))| Some((last_in_bucket.insert(&signature[band.clone()], place)?, place)))
        .collect()
}

/// The pairs that agree in this band and in none before it.
fn band_pairs(members: &[Member<'_>], band: usize, rows: usize) -> Vec<(u32, u32)> {
    let agree = |a: Member<'_>, b: Member<'_>, band: usize| {
        let band = band * rows..(band + 1) * rows;
        a.1[band.clone()] == b.1[band]
    };
    let mut order = members.to_vec();
    order.sort_by(|a, b| a.1[band * rows..(band + 1) * rows].cmp(&b.1[band * rows..(band + 1) * rows]));
    let mut pairs = Vec::new();
    for bucket in order.chunk_by(|a, b| agree(*a, *b, band)) {
        for (index, first) in bucket.iter().enumerate() {
            for second in &bucket[index + 1..] {
                if !(0..band).any(|earlier| agree(*first, *second, earlier)) {
                    pairs.push((first.0, second.0));
                }
            }
        }
    }
    pairs
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
        let members: Vec<Member<'_>> = [2, 3, 5, 7, 11].into_iter().zip(signatures.iter().map(|s| &s[..])).collect();
        assert_eq!(candidate_pairs(&members, banding), [(2, 3), (2, 5), (3, 5)]);
        assert_eq!(candidate_pairs(&[], banding), []);
        assert_eq!(candidate_groups(&members, banding), [[2, 3, 5]]);
        assert!(candidate_groups(&[], banding).is_empty());
    }
}
