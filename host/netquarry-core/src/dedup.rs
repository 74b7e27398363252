//! The set of blocks as a deduplication strategy sees it.
//!
//! A strategy holds the policy: what is compared with what, which thresholds count, which block stays. Everything that
//! is heavy is asked of a [`BlockSet`].

use std::fmt;
use std::ops::Deref;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// What a strategy may weigh when it chooses the block that stays.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BlockSummary {
    /// Source and dotted path: `timm:timm.layers.drop.DropPath`; for records that come from elsewhere, their identity.
    pub id: String,
    pub name: String,
    /// The name that the corpus gives to the source; empty where there is none.
    pub source: String,
    /// The priority of the source in the corpus; a greater one is preferred.
    pub priority: i32,
    /// The highest level of validation passed, 0 to 7.
    pub level: u8,
    /// A measured accuracy, where the records carry one.
    pub accuracy: Option<f64>,
    /// Of the code, in Unicode scalar values.
    pub characters: u64,
    /// SHA-256 of the code in UTF-8.
    pub sha256: [u8; 32],
}

/// Where the text of a block lies: in memory, or somewhere from where it is read whenever it is asked for.
pub trait CodeText: fmt::Debug + Send + Sync {
    /// Nothing where it cannot be read, which whoever made this has to notice and tell.
    fn read(&self) -> Arc<str>;
}

impl CodeText for Arc<str> {
    fn read(&self) -> Arc<str> {
        Arc::clone(self)
    }
}

/// The code of a block: a text, or what stands behind the header of one, which is not copied for it.
#[derive(Clone, Debug)]
pub struct Code {
    text: Arc<dyn CodeText>,
    start: usize,
}

impl Code {
    /// What stands in `text` from the byte `start` on.
    pub fn behind(text: impl CodeText + 'static, start: usize) -> Self {
        Self { text: Arc::new(text), start }
    }

    /// The code, for as long as it is worked on.
    pub fn read(&self) -> ReadCode {
        ReadCode { text: self.text.read(), start: self.start }
    }
}

impl From<Arc<str>> for Code {
    fn from(text: Arc<str>) -> Self {
        Self::behind(text, 0)
    }
}

/// A code in memory.
#[derive(Clone, Debug)]
pub struct ReadCode {
    text: Arc<str>,
    start: usize,
}

impl Deref for ReadCode {
    type Target = str;

    /// Of a text that could not be read there is nothing; whoever holds the texts knows and says so.
    fn deref(&self) -> &str {
        if self.text.is_empty() { "" } else { &self.text[self.start..] }
    }
}

/// How the tokens of a code are made comparable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Normalisation {
    /// NN-DUP's: the regions of `Module` classes and the functions that they call, comments and docstrings stripped,
    /// foreign names as `ID`, literals as `NUM` and `STR`.
    NnDup,
    /// The whole code, comments and docstrings stripped, the block's name and names that functions bind for themselves as
    /// `ID`.
    Code,
    /// Likewise the class that bears the name of the block; the whole code where it has none.
    Class,
    /// What is left when two ways to write the same network are made one ([`crate::syntax::canonical`]).
    Canonical(CanonicalView),
}

/// What is compared of the canonical form of a block: of all of its code where that defines nothing of its name, and the
/// tokens of [`Normalisation::Code`] where it does not parse, which are never none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum CanonicalView {
    /// The tokens of the block itself.
    Tokens,
    /// One token, the digest of the block and of all that it reaches in its code.
    Digest,
    /// What the block itself calls and computes, each as often as it does so: `Conv2d/1`, `Conv2d/2`, `+/1`; how often it
    /// calls each of its layers; and its bases from elsewhere.
    Operations,
    /// Likewise all that it reaches.
    ReachedOperations,
    /// A digest for each function of the block: what it gives and does, by the values that it computes from each other, and
    /// what the constructor makes of them; and the defaults that are layers, strings or switches.
    Flow,
}

impl Normalisation {
    pub const ALL: [Self; 8] = [
        Self::NnDup,
        Self::Code,
        Self::Class,
        Self::Canonical(CanonicalView::Tokens),
        Self::Canonical(CanonicalView::Digest),
        Self::Canonical(CanonicalView::Operations),
        Self::Canonical(CanonicalView::ReachedOperations),
        Self::Canonical(CanonicalView::Flow),
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::NnDup => "nn-dup",
            Self::Code => "code",
            Self::Class => "class",
            Self::Canonical(CanonicalView::Tokens) => "canonical",
            Self::Canonical(CanonicalView::Digest) => "canonical-digest",
            Self::Canonical(CanonicalView::Operations) => "operations",
            Self::Canonical(CanonicalView::ReachedOperations) => "reached-operations",
            Self::Canonical(CanonicalView::Flow) => "flow",
        }
    }
}

impl fmt::Display for Normalisation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// A kernel, or a size of it, that this host does not have.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum KernelError {
    #[error("there is no normalisation `{name}`; the host has {}", Normalisation::ALL.map(Normalisation::name).join(", "))]
    Normalisation { name: String },
    #[error("there is no hash family `{name}`; the host has {}", HashFamily::ALL.map(HashFamily::name).join(", "))]
    HashFamily { name: String },
    #[error("a signature of {0} permutations is not offered; the host has 128 and 256")]
    Permutations(u32),
    #[error("{bands} bands of {rows} rows do not fit into {permutations} permutations")]
    Banding { bands: u32, rows: u32, permutations: u32 },
    #[error("shingles of no tokens are not possible; the width is at least 1")]
    Width,
    #[error("blocks are compared by one criterion at least")]
    Criteria,
    #[error("a similarity is between 0 and 1, and {0} is not")]
    Similarity(f64),
    #[error("more than {0} pairs are candidates; groups of candidates tell no less, or take copies out before")]
    Pairs(usize),
}

impl FromStr for Normalisation {
    type Err = KernelError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|normalisation| normalisation.name() == name);
        known.ok_or_else(|| KernelError::Normalisation { name: name.to_owned() })
    }
}

/// How a code becomes a set of shingles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Shingling {
    pub normalisation: Normalisation,
    /// Consecutive tokens per shingle, at least 1.
    pub width: u32,
}

/// Where the hash functions of a signature come from. All families estimate the same similarity, and near a threshold each
/// of them misses pairs of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum HashFamily {
    /// Of the crate `minhash-rs`.
    MinhashRs,
    /// Of `datasketch` before version 2, with its seed 1: what NN-DUP's decisions were made with.
    Datasketch1,
}

impl HashFamily {
    pub const ALL: [Self; 2] = [Self::MinhashRs, Self::Datasketch1];

    pub fn name(self) -> &'static str {
        match self {
            Self::MinhashRs => "minhash-rs",
            Self::Datasketch1 => "datasketch-1",
        }
    }
}

impl fmt::Display for HashFamily {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for HashFamily {
    type Err = KernelError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|family| family.name() == name);
        known.ok_or_else(|| KernelError::HashFamily { name: name.to_owned() })
    }
}

/// How a set of shingles becomes a MinHash signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Hashing {
    pub family: HashFamily,
    /// Hash values per signature, 128 or 256.
    pub permutations: u32,
}

impl Hashing {
    /// Checks that the host has signatures of that size.
    pub fn check(self) -> Result<Self, KernelError> {
        match self.permutations {
            128 | 256 => Ok(self),
            permutations => Err(KernelError::Permutations(permutations)),
        }
    }
}

/// Where MinHash signatures collide: two blocks are candidates when all rows of some band agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Banding {
    pub hashing: Hashing,
    pub bands: u32,
    pub rows: u32,
}

impl Banding {
    /// Checks that the host has such signatures and that the bands fit into one.
    pub fn check(self) -> Result<Self, KernelError> {
        let permutations = self.hashing.check()?.permutations;
        let used = u64::from(self.bands) * u64::from(self.rows);
        if used == 0 || used > u64::from(permutations) {
            let Self { bands, rows, .. } = self;
            return Err(KernelError::Banding { bands, rows, permutations });
        }
        Ok(self)
    }
}

/// What two blocks have to have in common.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Criterion {
    pub shingling: Shingling,
    /// The least exact Jaccard similarity of their sets of shingles, in [0, 1]; 1 asks for equal sets.
    pub similarity: f64,
}

impl Criterion {
    /// Checks that it can be reached and missed, and that there is one.
    pub fn check(criteria: &[Self]) -> Result<(), KernelError> {
        match criteria.iter().find(|criterion| !(0.0..=1.0).contains(&criterion.similarity)) {
            Some(criterion) => Err(KernelError::Similarity(criterion.similarity)),
            None if criteria.is_empty() => Err(KernelError::Criteria),
            None => Ok(()),
        }
    }
}

/// A block and the one that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Follower {
    pub block: u32,
    pub leader: u32,
    /// By the first of the criteria, in [0, 1].
    pub similarity: f64,
}

/// Two blocks by number, and how much they have in common, in [0, 1].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SimilarPair {
    pub first: u32,
    pub second: u32,
    pub similarity: f64,
}

/// What the tree of a block's code looks like.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Structure {
    /// SHA-256 of everything below.
    pub sha256: [u8; 32],
    /// What is called, in the order of a walk over the tree; the first 256.
    pub calls: Vec<String>,
    /// What is called, with how often; sorted.
    pub call_counts: Vec<(String, u32)>,
    /// Keyword arguments that shape a layer, with their values rounded to powers of two; sorted, repeats kept.
    pub hyperparameters: Vec<(String, String)>,
}

/// Blocks, numbered from 0, and the kernels over them. Those that earlier strategies removed have the numbers behind those
/// that are left.
///
/// Every number that is passed in is below [`BlockSet::total`], `members` are strictly ascending, and a [`Hashing`], a
/// [`Banding`] and every [`Criterion`] have passed their checks: the plugin host sees to that.
pub trait BlockSet: Send + Sync {
    /// The number of blocks that are left.
    fn len(&self) -> u32;

    /// The number of blocks that are left or were removed.
    fn total(&self) -> u32;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number that the block had before any strategy removed one.
    fn position(&self, block: u32) -> u32;

    fn summary(&self, block: u32) -> BlockSummary;

    /// The code that is compared: the text of a bundle without its provenance header.
    fn code(&self, block: u32) -> String;

    fn tokens(&self, block: u32, normalisation: Normalisation) -> Vec<String>;

    /// The number of distinct shingles.
    fn shingle_count(&self, block: u32, shingling: Shingling) -> u32;

    /// For each member the first one that has the same set of shingles, which may be the member itself.
    fn first_equals(&self, members: &[u32], shingling: Shingling) -> Vec<u32>;

    /// A MinHash signature: as many values as permutations are asked for.
    fn signature(&self, block: u32, shingling: Shingling, hashing: Hashing) -> Vec<u32>;

    /// Pairs of members that collide in some band, each once, the smaller number first, sorted. Of `n` copies these are
    /// `n * (n - 1) / 2`; [`Self::candidate_groups`] tells no more about them and is cheap.
    ///
    /// # Errors
    /// [`KernelError::Pairs`] where they would fill the memory.
    fn candidate_pairs(
        &self,
        members: &[u32],
        shingling: Shingling,
        banding: Banding,
    ) -> Result<Vec<(u32, u32)>, KernelError>;

    /// The members that collide in some band with each other, directly or through others: groups of two at least, each
    /// ascending, in the order of their first ones.
    fn candidate_groups(&self, members: &[u32], shingling: Shingling, banding: Banding) -> Vec<Vec<u32>>;

    /// Clusters by leaders (Hartigan, "Clustering Algorithms", 1975): from the first block of `order` to the last, each one
    /// follows the first leader that collides with it in some band and has enough in common with it by all criteria, or leads
    /// itself. Signatures are those of the first criterion's sets. The followers, in that order.
    fn leaders(&self, order: &[u32], criteria: &[Criterion], banding: Banding) -> Vec<Follower>;

    /// The members that have enough in common by all criteria, directly or through others (single linkage): groups of two at
    /// least, each ascending, in the order of their first ones. No pair is missed.
    fn similar_groups(&self, members: &[u32], criteria: &[Criterion]) -> Vec<Vec<u32>>;

    /// Exact Jaccard similarity of the shingle set of `block` to that of each of `others`; 1 for two empty sets.
    fn jaccard(&self, block: u32, others: &[u32], shingling: Shingling) -> Vec<f64>;

    fn structure(&self, block: u32) -> Structure;

    /// [`Structure::sha256`] of each member.
    fn structure_digests(&self, members: &[u32]) -> Vec<[u8; 32]>;

    /// The Jaccard similarity of the structure of `block` to that of each of `others`, over the union of call counts and
    /// hyperparameters as sets; two empty structures have 0.
    fn structural_jaccard(&self, block: u32, others: &[u32]) -> Vec<f64>;

    /// The structures of the members, to look for those of at least this similarity, in [0, 1].
    fn structure_index(&self, members: &[u32], threshold: f64) -> Box<dyn SimilarStructures>;
}

/// Structures of blocks, to look for similar ones.
pub trait SimilarStructures: Send + Sync {
    /// Whether the structure of the block is among them.
    fn contains(&self, block: u32) -> bool;

    /// For each of `blocks`, which are among them, the others that are similar enough, ascending; the block is the first of
    /// each pair. From `most` pairs on no further blocks are looked up; how many were, which is one at least.
    fn similar(&self, blocks: &[u32], most: usize) -> (Vec<SimilarPair>, usize);
}

/// A block that is left out because another one stands for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Removal {
    pub block: u32,
    /// The one that stands for it; never itself removed by the same strategy.
    pub survivor: u32,
    /// The strategy's word for it: `exact`, `lexical`, `structural_equal`, `structural_near`.
    pub reason: String,
    /// In [0, 1], in the strategy's own measure.
    pub similarity: Option<f64>,
}

/// A block that an earlier strategy removed and that stays after all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restoration {
    pub block: u32,
    /// The strategy's word for it: `rescue`, `top_up`.
    pub reason: String,
}

/// What a strategy decides.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Decisions {
    /// Sorted by block.
    pub removals: Vec<Removal>,
    /// In the order in which they come back.
    pub restorations: Vec<Restoration>,
}
