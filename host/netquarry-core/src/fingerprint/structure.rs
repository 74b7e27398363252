//! Structural fingerprints: what a code calls, how often, in which order, and with which hyperparameters.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use super::region;
use super::shingles::shared;
use crate::dedup::{SimilarPair, Structure};
use crate::syntax::{ArgumentValue, Outline};

/// The keyword arguments that shape a layer.
const HYPERPARAMETERS: [&str; 13] = [
    "kernel_size",
    "stride",
    "padding",
    "groups",
    "num_heads",
    "heads",
    "expansion",
    "hidden_size",
    "in_channels",
    "out_channels",
    "dim",
    "width",
    "depth",
];

/// How many calls the sequence holds; counts are over all of them.
const SEQUENCE_LENGTH: usize = 256;

/// The fingerprint of a code; that of a code without calls where it does not parse.
///
/// Needs a stack of [`crate::syntax::PARSER_STACK_BYTES`].
pub fn structure(code: &str) -> Structure {
    let outline = region::parsed(code).unwrap_or_default();
    let calls: Vec<String> = outline.calls.iter().take(SEQUENCE_LENGTH).map(|call| call.name.to_string()).collect();
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    for call in &outline.calls {
        *counts.entry(&call.name).or_default() += 1;
    }
    let call_counts = counts.into_iter().map(|(name, count)| (name.to_owned(), count)).collect();
    let mut structure = Structure { sha256: [0; 32], calls, call_counts, hyperparameters: hyperparameters(&outline) };
    structure.sha256 = Sha256::digest(canonical_json(&structure)).into();
    structure
}

fn hyperparameters(outline: &Outline) -> Vec<(String, String)> {
    let keywords = outline.calls.iter().flat_map(|call| &call.keywords);
    let mut found: Vec<_> = keywords
        .filter(|(name, _)| HYPERPARAMETERS.contains(&&**name))
        .filter_map(|(name, value)| Some((name.to_string(), bucket(value)?)))
        .collect();
    found.sort_unstable();
    found
}

/// The nearest power of two, so that widths that differ a little compare equal; `None` for what is not written out.
fn bucket(value: &ArgumentValue) -> Option<String> {
    match value {
        ArgumentValue::Number(number) if *number <= 0.0 => Some("0".to_owned()),
        ArgumentValue::Number(number) => Some(power_of_two(number.log2().round_ties_even())),
        ArgumentValue::Tuple(values) => {
            let buckets = values.iter().map(|value| bucket(value).unwrap_or_else(|| "X".to_owned()));
            Some(format!("({})", buckets.collect::<Vec<_>>().join(",")))
        }
        ArgumentValue::Other => None,
    }
}

/// The digits of `2 ** exponent`, cut to an integer as `int` does.
fn power_of_two(exponent: f64) -> String {
    let power = exponent.exp2();
    if power.is_finite() {
        return format!("{:.0}", power.trunc());
    }
    // The greatest floats round up to 2 ** 1024, which is none itself: twice 2 ** 1023, digit by digit.
    let mut carry = 0;
    let half = format!("{:.0}", 1023_f64.exp2());
    let doubled = half.bytes().rev().map(|digit| {
        let double = 2 * (digit - b'0') + carry;
        carry = double / 10;
        char::from(b'0' + double % 10)
    });
    let mut digits: Vec<char> = doubled.collect();
    if carry > 0 {
        digits.push('1');
    }
    digits.into_iter().rev().collect()
}

/// As `json.dumps(..., sort_keys=True)` writes NN-DUP's fingerprint.
fn canonical_json(structure: &Structure) -> String {
    let strings =
        structure.hyperparameters.iter().map(|(name, bucket)| format!("[{}, {}]", quoted(name), quoted(bucket)));
    let hyperparameters = strings.collect::<Vec<_>>().join(", ");
    let pairs = structure.call_counts.iter().map(|(name, count)| format!("[{}, {count}]", quoted(name)));
    let counts = pairs.collect::<Vec<_>>().join(", ");
    let calls = structure.calls.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
    format!(r#"{{"hyperparams_bag": [{hyperparameters}], "layer_bag": [{counts}], "layer_seq": [{calls}]}}"#)
}

/// Names and buckets contain nothing that JSON escapes, but for letters beyond ASCII.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        if character.is_ascii() {
            quoted.push(character);
        } else {
            for unit in character.encode_utf16(&mut [0; 2]) {
                write!(quoted, "\\u{unit:04x}").expect("a string takes everything");
            }
        }
    }
    quoted.push('"');
    quoted
}

/// A feature of a structure: a call with its count, or a hyperparameter with its bucket.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Feature<'s> {
    Calls(&'s str, u32),
    Hyperparameter(&'s str, &'s str),
}

fn features(structure: &Structure) -> BTreeSet<Feature<'_>> {
    let calls = structure.call_counts.iter().map(|(name, count)| Feature::Calls(name, *count));
    let hyperparameters = structure.hyperparameters.iter().map(|(name, bucket)| Feature::Hyperparameter(name, bucket));
    calls.chain(hyperparameters).collect()
}

/// The pairs of members with at least this Jaccard similarity over call counts and hyperparameters, both as sets; two
/// empty structures have 0. Members are ascending by number; so are the pairs.
///
/// Two sets that are similar enough share one of their rarest features, so only members that share one are compared
/// (prefix filtering: Bayardo, Ma and Srikant, "Scaling up all pairs similarity search", 2007).
pub fn structural_pairs(members: &[(u32, &Structure)], threshold: f64) -> Vec<SimilarPair> {
    let sets = ranked_features(members);
    let mut pairs = Vec::new();
    if threshold <= 0.0 {
        for second in 0..sets.len() {
            pairs.extend((0..second).filter_map(|first| similar_pair(members, &sets, first, second, threshold)));
        }
    } else {
        let mut index: HashMap<u32, Vec<usize>> = HashMap::new();
        for (second, set) in sets.iter().enumerate() {
            let prefix = &set[..prefix_length(set.len(), threshold)];
            let candidates: BTreeSet<usize> =
                prefix.iter().filter_map(|rank| index.get(rank)).flatten().copied().collect();
            pairs.extend(
                candidates.into_iter().filter_map(|first| similar_pair(members, &sets, first, second, threshold)),
            );
            for rank in prefix {
                index.entry(*rank).or_default().push(second);
            }
        }
    }
    pairs.sort_unstable_by_key(|pair| (pair.first, pair.second));
    pairs
}

/// The features of each member as numbers, the rarest feature first.
fn ranked_features(members: &[(u32, &Structure)]) -> Vec<Vec<u32>> {
    let sets: Vec<BTreeSet<Feature<'_>>> = members.iter().map(|(_, structure)| features(structure)).collect();
    let mut frequencies: BTreeMap<&Feature<'_>, usize> = BTreeMap::new();
    for feature in sets.iter().flatten() {
        *frequencies.entry(feature).or_default() += 1;
    }
    let mut by_frequency: Vec<_> = frequencies.into_iter().collect();
    by_frequency.sort_by_key(|(_, frequency)| *frequency);
    let ranks: HashMap<&Feature<'_>, u32> = by_frequency.into_iter().map(|(feature, _)| feature).zip(0..).collect();
    let ranked = sets.iter().map(|set| {
        let mut set: Vec<u32> = set.iter().map(|feature| ranks[feature]).collect();
        set.sort_unstable();
        set
    });
    ranked.collect()
}

/// Two sets of this similarity share at least `threshold * length` elements, so they cannot differ in more than the rest
/// of either: one of its first `length - threshold * length + 1` is shared. Rounding errors make it one more.
fn prefix_length(length: usize, threshold: f64) -> usize {
    let shared = (threshold * length as f64 - 1e-9).ceil().max(0.0) as usize;
    (length + 1).saturating_sub(shared.max(1)).min(length)
}

fn similar_pair(
    members: &[(u32, &Structure)],
    sets: &[Vec<u32>],
    first: usize,
    second: usize,
    threshold: f64,
) -> Option<SimilarPair> {
    let similarity = jaccard(&sets[first], &sets[second]);
    (similarity >= threshold).then(|| SimilarPair { first: members[first].0, second: members[second].0, similarity })
}

fn jaccard(first: &[u32], second: &[u32]) -> f64 {
    let shared = shared(first, second);
    let union = first.len() + second.len() - shared;
    if union == 0 { 0.0 } else { shared as f64 / union as f64 }
}
