//! Locality-sensitive hashing over signatures that are there already, with bands that are chosen at run time.

use rayon::prelude::*;

use crate::dedup::Banding;

/// NN-DUP's: what `datasketch` chooses for 256 permutations and a threshold of 0.85. The last 9 of 256 values stay
/// unused. A pair of similarity 0.90 becomes a candidate with a probability of 0.85, one of 0.95 with 0.998.
pub const NN_DUP: Banding = Banding { permutations: 256, bands: 13, rows: 19 };

/// The bands for which the candidates are closest to the pairs of at least `threshold`: least area of false positives
/// below it and of false negatives above it, weighed alike, as in `datasketch`.
pub fn banding_for(threshold: f64, permutations: u32) -> Banding {
    let mut best = (f64::INFINITY, Banding { permutations, bands: 1, rows: 1 });
    for bands in 1..=permutations {
        for rows in 1..=permutations / bands {
            let error =
                false_positive_area(threshold, bands, rows) * 0.5 + false_negative_area(threshold, bands, rows) * 0.5;
            if error < best.0 {
                best = (error, Banding { permutations, bands, rows });
            }
        }
    }
    best.1
}

/// The probability that two sets of this similarity collide in some band.
pub fn candidate_probability(similarity: f64, bands: u32, rows: u32) -> f64 {
    1.0 - (1.0 - similarity.powf(f64::from(rows))).powf(f64::from(bands))
}

fn false_positive_area(threshold: f64, bands: u32, rows: u32) -> f64 {
    integral(|similarity| candidate_probability(similarity, bands, rows), 0.0, threshold)
}

fn false_negative_area(threshold: f64, bands: u32, rows: u32) -> f64 {
    integral(|similarity| 1.0 - candidate_probability(similarity, bands, rows), threshold, 1.0)
}

/// By the same steps as `datasketch`, rounding errors included: they decide between equals.
fn integral(function: impl Fn(f64) -> f64, from: f64, to: f64) -> f64 {
    const STEP: f64 = 0.001;
    let (mut area, mut position) = (0.0, from);
    while position < to {
        area += function(position + 0.5 * STEP) * STEP;
        position += STEP;
    }
    area
}

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
