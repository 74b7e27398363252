//! Blocks whose normalised tokens are nearly the same.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use netquarry_sdk::dedup::{
    Banding, BlockSummary, Blocks, Decisions, DedupStrategy, Hashing, Pair, Removal, Shingling,
};
use netquarry_sdk::{ConfigurationError, Plugin};
use schemars::JsonSchema;
use serde::Deserialize;
use survivor::grouping::Groups;
use survivor::{Criterion, compare, matched_prefix, summaries};

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
    pub prefer: Vec<Criterion>,
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
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Floor {
    /// How tokens are normalised, by the host's name for it; each token counts by itself.
    pub normalisation: String,
    /// The least Jaccard similarity of the sets of tokens.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub similarity: f64,
}

/// What belongs to one survivor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
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
    fn deduplicate(&self, blocks: &dyn Blocks) -> Result<Decisions, String> {
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
    summaries: Vec<BlockSummary>,
    /// Those that were asked for: most blocks are compared with none.
    families: RefCell<BTreeMap<u32, &'static str>>,
    /// The numbers of shingles that are known, by block and by the position of the shingling.
    sizes: RefCell<BTreeMap<(u32, usize), u32>>,
}

impl<'a> Corpus<'a> {
    fn read(blocks: &'a dyn Blocks, configuration: &'a Configuration) -> Self {
        let summaries = summaries(blocks);
        let shingling = |normalisation: &String| Shingling {
            normalisation: normalisation.clone(),
            width: configuration.shingle_width,
        };
        let shinglings = configuration.normalisations.iter().map(shingling).collect();
        let (families, sizes) = Default::default();
        Self { blocks, configuration, shinglings, summaries, families, sizes }
    }

    /// Groups of blocks whose signatures collide, directly or through others; each is ascending.
    fn candidate_groups(&self) -> Result<Vec<Vec<u32>>, String> {
        let all: Vec<u32> = (0..self.blocks.count()).collect();
        self.blocks.candidate_groups(&all, &self.shinglings[0], &self.banding())
    }

    fn banding(&self) -> Banding {
        let Configuration { hash_family, permutations, bands, rows, .. } = self.configuration;
        let hashing = Hashing { family: hash_family.clone(), permutations: *permutations };
        Banding { hashing, bands: *bands, rows: *rows }
    }

    /// From the best block to the worst, each one that stays removes its near-duplicates.
    fn stars(&self) -> Result<Vec<Removal>, String> {
        let mut removals = Vec::new();
        for mut group in self.candidate_groups()? {
            // What hangs together through others alone need not be compared, and grows by a square.
            let mut candidates = self.candidates(&group)?;
            group.sort_by(|first, second| self.compare(*first, *second));
            let mut waiting: BTreeSet<u32> = group.iter().copied().collect();
            for survivor in group {
                if !waiting.remove(&survivor) {
                    continue;
                }
                let mut others = candidates.remove(&survivor).unwrap_or_default();
                others.retain(|other| waiting.contains(other));
                for (block, similarity) in self.near(survivor, &others)? {
                    if similarity.is_some() {
                        waiting.remove(&block);
                        removals.push(removal(block, survivor, similarity));
                    }
                }
            }
        }
        Ok(removals)
    }

    /// For each block of a group those whose signatures collide with its own.
    fn candidates(&self, group: &[u32]) -> Result<BTreeMap<u32, Vec<u32>>, String> {
        let pairs = match group {
            // Nothing but each other can have brought them together.
            [first, second] => vec![Pair { first: *first, second: *second }],
            group => self.blocks.candidate_pairs(group, &self.shinglings[0], &self.banding())?,
        };
        let mut candidates: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for Pair { first, second } in pairs {
            candidates.entry(first).or_default().push(second);
            candidates.entry(second).or_default().push(first);
        }
        Ok(candidates)
    }

    /// The best blocks of each component of near-duplicates stay.
    fn components(&self) -> Result<Vec<Removal>, String> {
        let mut removals = Vec::new();
        for candidates in self.candidate_groups()? {
            let count = u32::try_from(candidates.len()).expect("blocks are numbered with 32 bits");
            // By their places among the candidates.
            let mut groups = Groups::new(count);
            let first = self.first_equals(&candidates)?;
            (0..).zip(&first).for_each(|(place, first)| groups.join(place, *first));
            for (place, block) in (0..).zip(&candidates).filter(|(place, _)| first[*place as usize] == *place) {
                // Whatever is joined already need not be compared: only the components matter.
                let is_open = |other: &u32| first[*other as usize] == *other && !groups.are_joined(place, *other);
                let others: Vec<u32> = (place + 1..count).filter(is_open).collect();
                let blocks: Vec<u32> = others.iter().map(|other| candidates[*other as usize]).collect();
                for ((_, similarity), other) in self.near(*block, &blocks)?.into_iter().zip(others) {
                    if similarity.is_some() {
                        groups.join(place, other);
                    }
                }
            }
            let places: Vec<u32> = (0..count).collect();
            for component in groups.of(&places) {
                removals.extend(self.reduce(component.iter().map(|place| candidates[*place as usize]).collect())?);
            }
        }
        Ok(removals)
    }

    /// For each candidate the place of the first one that is comparable to it and has the same shingles in all
    /// normalisations.
    fn first_equals(&self, candidates: &[u32]) -> Result<Vec<u32>, String> {
        let mut keys: Vec<Vec<u32>> = vec![Vec::new(); candidates.len()];
        for shingling in &self.shinglings {
            let first = self.blocks.first_equals(candidates, shingling)?;
            keys.iter_mut().zip(first).for_each(|(key, first)| key.push(first));
        }
        let mut places = BTreeMap::new();
        let first = (0..)
            .zip(candidates.iter().zip(keys))
            .map(|(place, (block, key))| *places.entry((self.family(*block), key)).or_insert(place));
        Ok(first.collect())
    }

    /// All but the best blocks of a component, each with the most similar one of those that stay.
    fn reduce(&self, mut component: Vec<u32>) -> Result<Vec<Removal>, String> {
        component.sort_by(|first, second| self.compare(*first, *second));
        let keep = self.configuration.keep.min(component.len());
        let (kept, rest) = component.split_at(keep);
        let mut kept = kept.to_vec();
        let prefix = |block: &u32| matched_prefix(&self.summaries[*block as usize].name, &self.configuration.prefixes);
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
            removals.push(removal(block, *survivor, Some(*similarity)));
        }
        Ok(removals)
    }

    /// The similarity of each of the others to the block where it reaches the block's threshold; none where it does not,
    /// and for blocks of other families.
    fn near(&self, block: u32, others: &[u32]) -> Result<Vec<(u32, Option<f64>)>, String> {
        let is_comparable = |other: u32| self.family(block) == self.family(other);
        let threshold = self.threshold(block);
        let mut near: Vec<(u32, Option<f64>)> =
            others.iter().map(|other| (*other, is_comparable(*other).then_some(1.0))).collect();
        for shingling in 0..self.shinglings.len() {
            let own = self.size(block, shingling)?;
            for (other, similarity) in &mut near {
                if similarity.is_some() && most_similar(own, self.size(*other, shingling)?) < threshold {
                    *similarity = None;
                }
            }
            let compared: Vec<u32> =
                near.iter().filter(|(_, still)| still.is_some()).map(|(other, _)| *other).collect();
            let similarities = self.blocks.jaccard(block, &compared, &self.shinglings[shingling])?;
            let still = near.iter_mut().filter_map(|(_, similarity)| similarity.is_some().then_some(similarity));
            for (least, similarity) in still.zip(similarities) {
                *least = least.map(|least| least.min(similarity)).filter(|least| *least >= threshold);
            }
        }
        for floor in &self.configuration.floors {
            self.ask_for(floor, block, &mut near)?;
        }
        Ok(near)
    }

    /// Takes the similarity from those that share too little else with the block.
    fn ask_for(&self, floor: &Floor, block: u32, near: &mut [(u32, Option<f64>)]) -> Result<(), String> {
        let shingling = Shingling { normalisation: floor.normalisation.clone(), width: 1 };
        let compared: Vec<u32> = near.iter().filter(|(_, still)| still.is_some()).map(|(other, _)| *other).collect();
        let shared = self.blocks.jaccard(block, &compared, &shingling)?;
        let still = near.iter_mut().filter(|(_, still)| still.is_some());
        for ((_, similarity), shared) in still.zip(shared) {
            *similarity = similarity.filter(|_| shared >= floor.similarity);
        }
        Ok(())
    }

    /// How many shingles a block has, asked once.
    fn size(&self, block: u32, shingling: usize) -> Result<u32, String> {
        if let Some(size) = self.sizes.borrow().get(&(block, shingling)) {
            return Ok(*size);
        }
        let size = self.blocks.shingle_count(block, &self.shinglings[shingling])?;
        self.sizes.borrow_mut().insert((block, shingling), size);
        Ok(size)
    }

    /// The least similarity of each of the others to the block, over all normalisations.
    fn similarities(&self, block: u32, others: &[u32]) -> Result<Vec<f64>, String> {
        let mut least = vec![1.0_f64; others.len()];
        for shingling in &self.shinglings {
            let similarities = self.blocks.jaccard(block, others, shingling)?;
            least.iter_mut().zip(similarities).for_each(|(least, similarity)| *least = least.min(similarity));
        }
        Ok(least)
    }

    /// None where families do not matter.
    fn family(&self, block: u32) -> Option<&'static str> {
        let found = || model_family::family(&self.summaries[block as usize].name, || self.blocks.code(block));
        self.configuration.families.then(|| *self.families.borrow_mut().entry(block).or_insert_with(found))
    }

    fn threshold(&self, block: u32) -> f64 {
        let own = self.family(block).and_then(|family| self.configuration.family_thresholds.get(family));
        own.copied().unwrap_or(self.configuration.threshold)
    }

    fn compare(&self, first: u32, second: u32) -> std::cmp::Ordering {
        let [first, second] = [first, second].map(|block| &self.summaries[block as usize]);
        compare(&self.configuration.prefer, first, second)
    }
}

/// The greatest Jaccard similarity of sets of these sizes: the smaller one lies in the larger one.
fn most_similar(first: u32, second: u32) -> f64 {
    let (smaller, larger) = (first.min(second), first.max(second));
    if larger == 0 { 1.0 } else { f64::from(smaller) / f64::from(larger) }
}

fn removal(block: u32, survivor: u32, similarity: Option<f64>) -> Removal {
    Removal { block, survivor, reason: "lexical".to_owned(), similarity }
}

netquarry_sdk::export!(Lexical as DedupStrategy);

#[cfg(test)]
mod tests;
