//! Blocks whose normalised tokens are nearly the same.

use std::collections::BTreeMap;

use netquarry_sdk::dedup::{Banding, Blocks, Criterion, Decisions, DedupStrategy, Hashing, Removal, Shingling};
use netquarry_sdk::{ConfigurationError, Plugin, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use survivor::{Merits, Preference, matched_prefix, summaries};

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Configuration {
    /// The exact Jaccard similarity of shingle sets from which on two blocks are near-duplicates.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub threshold: f64,
    /// Other thresholds for the families of these names; they matter only with `families`.
    pub family_thresholds: BTreeMap<String, f64>,
    /// Compare only blocks of the same family, by NN-DUP's rules for names and code.
    pub families: bool,
    pub linkage: Linkage,
    /// How many blocks of a component stay; with `linkage` `star` it is always one.
    #[schemars(range(min = 1))]
    pub keep: usize,
    /// What makes the block better that stays, in turn; where all are equal, the first one stays.
    pub prefer: Vec<Preference>,
    /// Name prefixes, of which each one that is present in a component keeps a block at least.
    pub prefixes: Vec<String>,
    /// Consecutive tokens per shingle.
    #[schemars(range(min = 1))]
    pub shingle_width: u32,
    /// How tokens are normalised, by the host's names for it. Two blocks are as similar as they are in the
    /// normalisation in which they are the least similar.
    #[schemars(length(min = 1))]
    pub normalisations: Vec<String>,
    /// What else near-duplicates have to share. An exponential for a sine changes few tokens and everything else.
    pub floors: Vec<Floor>,
    /// Where the hash functions of MinHash signatures come from, by the host's name for it.
    pub hash_family: String,
    /// Hash values per MinHash signature.
    pub permutations: u32,
    /// Bands of a signature; blocks are compared when one band agrees.
    pub bands: u32,
    /// Hash values per band.
    pub rows: u32,
}

/// The least similarity of two blocks in something.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Floor {
    /// How tokens are normalised, by the host's name for it; each token counts by itself.
    pub normalisation: String,
    /// The least Jaccard similarity of the sets of tokens.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub similarity: f64,
}

/// What belongs to one survivor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Linkage {
    /// Its near-duplicates.
    Star,
    /// Its near-duplicates, theirs, and so on.
    Component,
}

impl Default for Configuration {
    fn default() -> Self {
        Self {
            threshold: 0.8,
            family_thresholds: BTreeMap::new(),
            families: false,
            linkage: Linkage::Star,
            keep: 1,
            prefer: survivor::DEFAULT.to_vec(),
            prefixes: Vec::new(),
            shingle_width: 5,
            normalisations: vec!["canonical".to_owned()],
            floors: vec![
                Floor { normalisation: "operations".to_owned(), similarity: 1.0 },
                Floor { normalisation: "flow".to_owned(), similarity: 1.0 },
                Floor { normalisation: "reached-operations".to_owned(), similarity: 0.98 },
            ],
            hash_family: "minhash-rs".to_owned(),
            permutations: 256,
            bands: 32,
            rows: 8,
        }
    }
}

pub struct Lexical {
    configuration: Configuration,
}

impl Plugin for Lexical {
    const NAME: &str = "dedup-lexical";
    const VERSION: &str = env!("CARGO_PKG_VERSION");
    const DOCUMENTATION: &str = include_str!("../README.md");
    const EXAMPLES: &[(&str, &str)] = &[("comments", include_str!("../examples/comments.json"))];
    type Configuration = Configuration;

    fn new(configuration: Configuration) -> Result<Self, ConfigurationError> {
        let refuse = |pointer: &str, message: &str| {
            Err(ConfigurationError { pointer: pointer.to_owned(), message: message.to_owned() })
        };
        survivor::check_similarity("/threshold", configuration.threshold)?;
        for (number, floor) in configuration.floors.iter().enumerate() {
            survivor::check_similarity(&format!("/floors/{number}/similarity"), floor.similarity)?;
        }
        for (family, threshold) in &configuration.family_thresholds {
            survivor::check_similarity(&format!("/family_thresholds/{family}"), *threshold)?;
        }
        if configuration.normalisations.is_empty() {
            return refuse("/normalisations", "at least one normalisation is needed");
        }
        if configuration.keep == 0 {
            return refuse("/keep", "at least one block of a component stays");
        }
        Ok(Self { configuration })
    }
}

impl DedupStrategy for Lexical {
    fn deduplicate(&self, blocks: &dyn Blocks) -> Result<Decisions, Refusal> {
        let corpus = Corpus::read(blocks, &self.configuration);
        let removals = match self.configuration.linkage {
            Linkage::Star => corpus.stars(),
            Linkage::Component => corpus.components(),
        };
        let mut removals = removals?;
        removals.sort_by_key(|removal| removal.block);
        Ok(removals.into())
    }
}

/// The blocks with what the decisions need to know about them.
struct Corpus<'a> {
    blocks: &'a dyn Blocks,
    configuration: &'a Configuration,
    /// One for each normalisation; the first one finds the candidates.
    shinglings: Vec<Shingling>,
    merits: Merits,
    /// Empty where neither families nor prefixes matter.
    names: Vec<Box<str>>,
}

impl<'a> Corpus<'a> {
    fn read(blocks: &'a dyn Blocks, configuration: &'a Configuration) -> Self {
        let Configuration { prefer, families, prefixes, .. } = configuration;
        let is_named = *families || !prefixes.is_empty();
        let names = if is_named { summaries(blocks).map(|summary| summary.name.into()).collect() } else { Vec::new() };
        let shingling = |normalisation: &String| Shingling {
            normalisation: normalisation.clone(),
            width: configuration.shingle_width,
        };
        let shinglings = configuration.normalisations.iter().map(shingling).collect();
        Self { blocks, configuration, shinglings, merits: Merits::of(blocks, prefer), names }
    }

    fn banding(&self) -> Banding {
        let Configuration { hash_family, permutations, bands, rows, .. } = self.configuration;
        let hashing = Hashing { family: hash_family.clone(), permutations: *permutations };
        Banding { hashing, bands: *bands, rows: *rows }
    }

    /// What near-duplicates of a family have in common.
    fn criteria(&self, family: Option<&str>) -> Vec<Criterion> {
        let own = family.and_then(|family| self.configuration.family_thresholds.get(family));
        let threshold = own.copied().unwrap_or(self.configuration.threshold);
        let shared = self.shinglings.iter().map(|shingling| (shingling.clone(), threshold));
        let floors = self.configuration.floors.iter().map(|floor| {
            let shingling = Shingling { normalisation: floor.normalisation.clone(), width: 1 };
            (shingling, floor.similarity)
        });
        shared.chain(floors).map(|(shingling, similarity)| Criterion { shingling, similarity }).collect()
    }

    /// From the best block to the worst, each one that stays removes its near-duplicates.
    fn stars(&self) -> Result<Vec<Removal>, Refusal> {
        let all: Vec<u32> = (0..self.blocks.count()).collect();
        let mut removals = Vec::new();
        for (family, mut order) in self.by_family(all) {
            order.sort_by(|first, second| self.merits.compare(*first, *second));
            for follower in self.blocks.leaders(&order, &self.criteria(family), &self.banding())? {
                let similarity = match &self.shinglings[..] {
                    [_] => follower.similarity,
                    _ => self.similarities(follower.block, &[follower.leader])?[0],
                };
                removals.push(removal(follower.block, follower.leader, similarity));
            }
        }
        Ok(removals)
    }

    /// The best blocks of each component of near-duplicates stay.
    fn components(&self) -> Result<Vec<Removal>, Refusal> {
        let all: Vec<u32> = (0..self.blocks.count()).collect();
        let mut removals = Vec::new();
        for candidates in self.blocks.candidate_groups(&all, &self.shinglings[0], &self.banding())? {
            for (family, members) in self.by_family(candidates) {
                for component in self.blocks.similar_groups(&members, &self.criteria(family))? {
                    removals.extend(self.reduce(component)?);
                }
            }
        }
        Ok(removals)
    }

    /// Ascending blocks by family; all together where families do not matter.
    fn by_family(&self, blocks: Vec<u32>) -> BTreeMap<Option<&'static str>, Vec<u32>> {
        if !self.configuration.families {
            return BTreeMap::from([(None, blocks)]);
        }
        let mut families: BTreeMap<_, Vec<u32>> = BTreeMap::new();
        for block in blocks {
            families.entry(Some(self.family(block))).or_default().push(block);
        }
        families
    }

    /// All but the best blocks of a component, each with the most similar one of those that stay.
    fn reduce(&self, mut component: Vec<u32>) -> Result<Vec<Removal>, Refusal> {
        component.sort_by(|first, second| self.merits.compare(*first, *second));
        let keep = self.configuration.keep.min(component.len());
        let (kept, rest) = component.split_at(keep);
        let mut kept = kept.to_vec();
        let prefix = |block: &u32| matched_prefix(self.name(*block), &self.configuration.prefixes);
        let mut gone = Vec::new();
        for block in rest {
            let is_first_of_its_prefix =
                prefix(block).is_some_and(|own| !kept.iter().any(|other| prefix(other) == Some(own)));
            if is_first_of_its_prefix { kept.push(*block) } else { gone.push(*block) }
        }
        let mut removals = Vec::with_capacity(gone.len());
        for block in gone {
            let similarities = self.similarities(block, &kept)?;
            // Of equals the first, which is the best.
            let nearest = similarities.iter().zip(&kept).rev().max_by(|first, second| first.0.total_cmp(second.0));
            let (similarity, survivor) = nearest.expect("a block of each component stays");
            removals.push(removal(block, *survivor, *similarity));
        }
        Ok(removals)
    }

    /// The least similarity of each of the others to the block, over all normalisations.
    fn similarities(&self, block: u32, others: &[u32]) -> Result<Vec<f64>, Refusal> {
        let mut least = vec![1.0_f64; others.len()];
        for shingling in &self.shinglings {
            let similarities = self.blocks.jaccard(block, others, shingling)?;
            least.iter_mut().zip(similarities).for_each(|(least, similarity)| *least = least.min(similarity));
        }
        Ok(least)
    }

    fn family(&self, block: u32) -> &'static str {
        model_family::family(self.name(block), || self.blocks.code(block))
    }

    /// Where names matter.
    fn name(&self, block: u32) -> &str {
        self.names.get(block as usize).map_or("", |name| name)
    }
}

fn removal(block: u32, survivor: u32, similarity: f64) -> Removal {
    Removal { block, survivor, reason: "lexical".to_owned(), similarity: Some(similarity) }
}

netquarry_sdk::export!(Lexical as DedupStrategy);

#[cfg(test)]
mod tests;
