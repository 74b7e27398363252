//! Structural fingerprints: what a code calls, how often, in which order, and with which hyperparameters.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::{self, Write as _};

use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::prefixes::{most_similar, prefix_length};
use super::ragged::Ragged;
use super::region;
use super::shingles::shared;
use crate::dedup::{SimilarPair, SimilarStructures, Structure};
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

/// A feature of a structure: a call with its count, or a hyperparameter with its bucket. Two of them are the same where they
/// are written the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Feature<'s> {
    Calls(&'s str, u32),
    Hyperparameter(&'s str, &'s str),
}

impl fmt::Display for Feature<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Calls(name, count) => write!(formatter, "{count} {name}"),
            Self::Hyperparameter(name, bucket) => write!(formatter, "{name}={bucket}"),
        }
    }
}

fn features(structure: &Structure) -> BTreeSet<Feature<'_>> {
    let calls = structure.call_counts.iter().map(|(name, count)| Feature::Calls(name, *count));
    let hyperparameters = structure.hyperparameters.iter().map(|(name, bucket)| Feature::Hyperparameter(name, bucket));
    calls.chain(hyperparameters).collect()
}

/// The Jaccard similarity over call counts and hyperparameters, both as sets; 0 for two empty structures.
pub fn structural_jaccard(first: &Structure, second: &Structure) -> f64 {
    let [first, second] = [first, second].map(|structure| features(structure).into_iter().collect::<Vec<_>>());
    jaccard_of_features(&first, &second)
}

/// Of two ascending sets; 0 for two empty ones.
fn jaccard_of_features<F: Ord>(first: &[F], second: &[F]) -> f64 {
    let shared = shared(first, second);
    let union = first.len() + second.len() - shared;
    if union == 0 { 0.0 } else { shared as f64 / union as f64 }
}

/// The structures of many blocks, to look for similar ones: of each in memory the features as numbers, and no name.
pub(super) struct StructureIndex {
    /// Ascending.
    members: Vec<u32>,
    threshold: f64,
    /// For each member its features by rank, the rarest one first.
    sets: Ragged,
    /// For each rank the places of the members that have the feature among their rarest ones.
    by_feature: Ragged,
}

/// So many blocks are looked up together.
const LOOKUPS: usize = 64;

/// So many structures are read together.
const CHUNK: usize = 4096;

impl StructureIndex {
    /// `structure` gives that of a member. Pairs are similar from this Jaccard similarity on, over call counts and
    /// hyperparameters, both as sets; two empty structures have 0.
    pub(super) fn new(members: &[u32], threshold: f64, structure: impl Fn(u32) -> Structure + Sync) -> Self {
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let mut frequencies: Vec<u32> = Vec::new();
        let mut sets = Ragged::default();
        for chunk in members.chunks(CHUNK) {
            let named = |member: &u32| features(&structure(*member)).iter().map(ToString::to_string).collect();
            let named: Vec<Vec<String>> = chunk.par_iter().map(named).collect();
            for set in named {
                sets.push(set.into_iter().map(|name| {
                    let next = u32::try_from(frequencies.len()).expect("there are fewer features than characters");
                    let number = *numbers.entry(name).or_insert(next);
                    if number == next {
                        frequencies.push(0);
                    }
                    frequencies[number as usize] += 1;
                    number
                }));
            }
        }
        drop(numbers);
        let ranks = ranks(&frequencies);
        for place in 0..sets.len() {
            let set = sets.get_mut(place);
            set.iter_mut().for_each(|feature| *feature = ranks[*feature as usize]);
            set.sort_unstable();
        }
        let prefixes: Ragged = sets.iter().map(|set| prefix(set, threshold).iter().copied()).collect();
        let by_feature = prefixes.inverted(frequencies.len());
        Self { members: members.to_vec(), threshold, sets, by_feature }
    }

    fn place(&self, block: u32) -> Option<usize> {
        self.members.binary_search(&block).ok()
    }

    fn similar_to(&self, block: u32) -> Vec<SimilarPair> {
        let place = self.place(block).expect("it is a member");
        let own = self.sets.get(place);
        let mut candidates: Vec<u32> = if self.threshold > 0.0 {
            prefix(own, self.threshold).iter().flat_map(|rank| self.by_feature.get(*rank as usize)).copied().collect()
        } else {
            (0..).zip(&self.members).map(|(place, _)| place).collect()
        };
        candidates.sort_unstable();
        candidates.dedup();
        let pair = |candidate: u32| {
            let (candidate, set) = (candidate as usize, self.sets.get(candidate as usize));
            let is_possible = candidate != place && most_similar(own.len(), set.len()) >= self.threshold;
            let similarity =
                is_possible.then(|| jaccard_of_features(own, set)).filter(|found| *found >= self.threshold)?;
            Some(SimilarPair { first: block, second: self.members[candidate], similarity })
        };
        candidates.into_iter().filter_map(pair).collect()
    }
}

impl SimilarStructures for StructureIndex {
    fn contains(&self, block: u32) -> bool {
        self.place(block).is_some()
    }

    fn similar(&self, blocks: &[u32], most: usize) -> (Vec<SimilarPair>, usize) {
        let (mut pairs, mut looked_up) = (Vec::new(), 0);
        for together in blocks.chunks(LOOKUPS) {
            pairs.par_extend(together.par_iter().flat_map_iter(|block| self.similar_to(*block)));
            looked_up += together.len();
            if pairs.len() >= most {
                break;
            }
        }
        (pairs, looked_up)
    }
}

/// The place of each feature in the order from the rarest one on.
fn ranks(frequencies: &[u32]) -> Vec<u32> {
    let mut by_frequency: Vec<usize> = (0..frequencies.len()).collect();
    by_frequency.sort_by_key(|feature| frequencies[*feature]);
    let mut ranks = vec![0; frequencies.len()];
    (0..).zip(by_frequency).for_each(|(rank, feature)| ranks[feature] = rank);
    ranks
}

fn prefix(set: &[u32], threshold: f64) -> &[u32] {
    &set[..prefix_length(set.len(), threshold)]
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
    fn similar_structures_are_those_of_brute_force() {
        let structures: Vec<Structure> = (0..60_u32)
            .map(|number| {
                let layers =
                    (0..number % 13).map(|layer| format!("l{}(dim={})", (layer * number) % 17, 1 << (number % 3)));
                structure(&layers.collect::<Vec<_>>().join("\n"))
            })
            .collect();
        assert_eq!(structural_jaccard(&structures[0], &structures[13]), 0.0);
        let members: Vec<u32> = (100..160).collect();
        let of = |member: u32| &structures[member as usize - 100];
        for threshold in [0.0, 0.1, 0.5, 0.75, 0.9, 0.95, 1.0] {
            let mut expected = Vec::new();
            for (first, second) in members.iter().flat_map(|first| members.iter().map(move |second| (*first, *second)))
            {
                let (a, b) = (features(of(first)), features(of(second)));
                let union = a.union(&b).count();
                let similarity = if union == 0 { 0.0 } else { a.intersection(&b).count() as f64 / union as f64 };
                assert_eq!(structural_jaccard(of(first), of(second)), similarity);
                if first != second && similarity >= threshold {
                    expected.push(SimilarPair { first, second, similarity });
                }
            }
            let index = StructureIndex::new(&members, threshold, |member| of(member).clone());
            assert_eq!(index.similar(&members, usize::MAX), (expected.clone(), members.len()), "{threshold}");
            let of_last: Vec<SimilarPair> = expected.into_iter().filter(|pair| pair.first == 159).collect();
            assert_eq!(index.similar(&[159], 1), (of_last, 1));
            assert!(index.contains(100) && !index.contains(99));
        }
    }
}
