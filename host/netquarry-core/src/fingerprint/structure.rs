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
    structure_of(&region::parsed(code).unwrap_or_default())
}

/// The fingerprint of a code with this outline.
pub(super) fn structure_of(outline: &Outline) -> Structure {
    let calls: Vec<String> = outline.calls.iter().take(SEQUENCE_LENGTH).map(|call| call.name.to_string()).collect();
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    for call in &outline.calls {
        *counts.entry(&call.name).or_default() += 1;
    }
    let call_counts = counts.into_iter().map(|(name, count)| (name.to_owned(), count)).collect();
    let mut structure = Structure { sha256: [0; 32], calls, call_counts, hyperparameters: hyperparameters(outline) };
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

/// The Jaccard similarity over call counts and hyperparameters, both as sets; 0 for two empty structures.
pub fn structural_jaccard(first: &Structure, second: &Structure) -> f64 {
    let (first, second) = (features(first), features(second));
    let shared = first.intersection(&second).count();
    let union = first.len() + second.len() - shared;
    if union == 0 { 0.0 } else { shared as f64 / union as f64 }
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

/// Two sets of this similarity share at least `threshold * length` elements, so they cannot differ in more than the
/// rest of either: one of its first `length - threshold * length + 1` is shared. Rounding errors make it one more.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn hyperparameters_of(arguments: &str) -> Vec<String> {
        let found = structure(&format!("f({arguments})\n")).hyperparameters;
        found.into_iter().map(|(name, bucket)| format!("{name}={bucket}")).collect()
    }

    #[test]
    fn calls_come_in_the_order_of_the_tree() {
        let code = "\
@after_body(1)
def f(x: annotation() = default()) -> returned():
    return b() if a() else c()
value = {k(): v(), l(): w()}
nn.Sequential(m(), *n(), key=o())()
";
        let structure = structure(code);
        let expected =
            "annotation default a b c after_body returned k l v w Sequential m n o".split(' ').collect::<Vec<_>>();
        assert_eq!(structure.calls, expected);
        assert!(structure.call_counts.iter().all(|(_, count)| *count == 1));
    }

    #[test]
    fn numbers_become_powers_of_two() {
        for (value, bucket) in [
            ("0", "0"),
            ("False", "0"),
            ("True", "1"),
            ("0.5", "0"),
            ("0.75", "1"),
            ("3", "4"),
            ("5", "4"),
            ("6", "8"),
            ("96", "128"),
            ("1e3", "1024"),
            ("(3, 5, x, -1, (2, None))", "(4,4,X,X,(2,X))"),
            ("1", "1"),
            ("0x40", "64"),
        ] {
            assert_eq!(hyperparameters_of(&format!("dim={value}")), [format!("dim={bucket}")], "{value}");
        }
        for value in ["-1", "x", "None", "'3'", "3j", "[3]", "1e999"] {
            assert!(hyperparameters_of(&format!("dim={value}")).is_empty(), "{value}");
        }
        assert_eq!(hyperparameters_of("width=2, bias=True, dim=1, **rest"), ["dim=1", "width=2"]);
    }

    #[test]
    fn the_greatest_numbers_keep_all_digits() {
        assert_eq!(power_of_two(100.0), (1_u128 << 100).to_string());
        let greatest = power_of_two(1024.0);
        assert!(greatest.starts_with("17976931348623159077") && greatest.ends_with("137216"), "{greatest}");
        assert_eq!(greatest.len(), 309);
    }

    #[test]
    fn names_are_written_as_json_writes_them() {
        assert_eq!(quoted("Größe𝔁"), r#""Gr\u00f6\u00dfe\ud835\udd01""#);
    }

    #[test]
    fn code_without_calls_and_broken_code_look_the_same() {
        assert_eq!(structure("x = 1\n"), structure("def (:\n"));
        assert_ne!(structure("x = 1\n").sha256, [0; 32]);
    }

    /// The filter against every pair.
    #[test]
    fn structural_pairs_are_those_of_brute_force() {
        let structures: Vec<Structure> = (0..60_u32)
            .map(|number| {
                let layers =
                    (0..number % 13).map(|layer| format!("l{}(dim={})", (layer * number) % 17, 1 << (number % 3)));
                structure(&layers.collect::<Vec<_>>().join("\n"))
            })
            .collect();
        assert_eq!(structural_jaccard(&structures[0], &structures[13]), 0.0);
        let members: Vec<(u32, &Structure)> = (100..).zip(&structures).collect();
        for threshold in [0.0, 0.1, 0.5, 0.75, 0.9, 0.95, 1.0] {
            let mut expected = Vec::new();
            for (first, a) in &members {
                for (second, b) in members.iter().filter(|(second, _)| second > first) {
                    let structures = [a, b];
                    let (a, b) = (features(a), features(b));
                    let union = a.union(&b).count();
                    let similarity = if union == 0 { 0.0 } else { a.intersection(&b).count() as f64 / union as f64 };
                    assert_eq!(structural_jaccard(structures[0], structures[1]), similarity);
                    if similarity >= threshold {
                        expected.push(SimilarPair { first: *first, second: *second, similarity });
                    }
                }
            }
            assert_eq!(structural_pairs(&members, threshold), expected, "{threshold}");
        }
    }
}
