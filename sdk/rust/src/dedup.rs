//! Strategies that decide which blocks are duplicates of others.

pub use crate::bindings::dedup_strategy::netquarry::plugin::blocks::{
    Banding, BlockSummary, Criterion, Decisions, Follower, Hashing, Pair, Removal, Restoration, Shingling,
    SimilarBlocks, SimilarPair, Structure,
};
use crate::bindings::dedup_strategy::netquarry::plugin::blocks::{BlockSet, StructureIndex};
use crate::{Plugin, Refusal};

/// A plugin of the kind `dedup-strategy`.
pub trait DedupStrategy: Plugin {
    /// Looks at the whole set and returns what goes, sorted by block, and what comes back, in the order in which it does.
    ///
    /// # Errors
    ///
    /// Nothing is then decided by the strategy.
    fn deduplicate(&self, blocks: &dyn Blocks) -> Result<Decisions, Refusal>;
}

/// Most strategies only remove.
impl From<Vec<Removal>> for Decisions {
    fn from(removals: Vec<Removal>) -> Self {
        Self { removals, restorations: Vec::new() }
    }
}

/// Some only bring back.
impl From<Vec<Restoration>> for Decisions {
    fn from(restorations: Vec<Restoration>) -> Self {
        Self { removals: Vec::new(), restorations }
    }
}

/// The blocks, numbered from 0, and the host's kernels over them. Those that earlier strategies removed have the numbers
/// behind those that are left. The host's own are behind a resource; a test brings an implementation of its own.
pub trait Blocks {
    /// The number of blocks that are left.
    fn count(&self) -> u32;

    /// The number of blocks that are left or were removed.
    fn total(&self) -> u32;

    /// The number that each block had before any strategy removed one, in the order of their numbers now.
    fn positions(&self) -> Vec<u32>;

    /// At most `count` summaries from `start` on.
    fn summaries(&self, start: u32, count: u32) -> Vec<BlockSummary>;

    /// The code that is compared.
    fn code(&self, block: u32) -> String;

    /// Normalised tokens.
    fn tokens(&self, block: u32, normalisation: &str) -> Result<Vec<String>, Refusal>;

    /// The number of distinct shingles.
    fn shingle_count(&self, block: u32, shingling: &Shingling) -> Result<u32, Refusal>;

    /// For each member the first one that has the same set of shingles.
    fn first_equals(&self, members: &[u32], shingling: &Shingling) -> Result<Vec<u32>, Refusal>;

    fn signature(&self, block: u32, shingling: &Shingling, hashing: &Hashing) -> Result<Vec<u32>, Refusal>;

    /// Pairs of members that collide in some band; sorted.
    fn candidate_pairs(&self, members: &[u32], shingling: &Shingling, banding: &Banding) -> Result<Vec<Pair>, Refusal>;

    /// The members that collide in some band, directly or through others; each group is ascending.
    fn candidate_groups(
        &self,
        members: &[u32],
        shingling: &Shingling,
        banding: &Banding,
    ) -> Result<Vec<Vec<u32>>, Refusal>;

    /// Clusters by leaders: from the first block of `order` to the last, each one follows the first leader that collides
    /// with it in some band, by the first criterion's sets, and has enough in common with it by all criteria, or leads
    /// itself. The followers, in that order.
    fn leaders(&self, order: &[u32], criteria: &[Criterion], banding: &Banding) -> Result<Vec<Follower>, Refusal>;

    /// The members that have enough in common by all criteria, directly or through others: groups of two at least, each
    /// ascending, in the order of their first ones.
    fn similar_groups(&self, members: &[u32], criteria: &[Criterion]) -> Result<Vec<Vec<u32>>, Refusal>;

    /// Exact Jaccard similarity of the shingle sets of `block` and each of `others`.
    fn jaccard(&self, block: u32, others: &[u32], shingling: &Shingling) -> Result<Vec<f64>, Refusal>;

    /// The structural fingerprint.
    fn structure(&self, block: u32) -> Structure;

    /// SHA-256 of the structures of all members, as hexadecimal digits.
    fn structure_digests(&self, members: &[u32]) -> Vec<String>;

    /// The Jaccard similarity of the structures of `block` and each of `others`; 0 for two empty ones.
    fn structural_jaccard(&self, block: u32, others: &[u32]) -> Vec<f64>;

    /// The structures of the members, to look for those of at least this similarity, in [0, 1].
    fn structure_index<'a>(&'a self, members: &[u32], threshold: f64) -> Box<dyn SimilarStructures + 'a>;
}

/// Structures of blocks, to look for similar ones.
pub trait SimilarStructures {
    /// For each of `blocks`, which are members, the other members that are similar enough, ascending; the block is the first
    /// of each pair. From `most` pairs on no further blocks are looked up.
    fn similar(&self, blocks: &[u32], most: u32) -> SimilarBlocks;
}

impl SimilarStructures for StructureIndex {
    fn similar(&self, blocks: &[u32], most: u32) -> SimilarBlocks {
        self.similar(blocks, most)
    }
}

impl Blocks for BlockSet {
    fn count(&self) -> u32 {
        self.len()
    }

    fn total(&self) -> u32 {
        self.total()
    }

    fn positions(&self) -> Vec<u32> {
        self.positions()
    }

    fn summaries(&self, start: u32, count: u32) -> Vec<BlockSummary> {
        self.summaries(start, count)
    }

    fn code(&self, block: u32) -> String {
        self.code(block)
    }

    fn tokens(&self, block: u32, normalisation: &str) -> Result<Vec<String>, Refusal> {
        self.tokens(block, normalisation).map_err(Refusal::Host)
    }

    fn shingle_count(&self, block: u32, shingling: &Shingling) -> Result<u32, Refusal> {
        self.shingle_count(block, shingling).map_err(Refusal::Host)
    }

    fn first_equals(&self, members: &[u32], shingling: &Shingling) -> Result<Vec<u32>, Refusal> {
        self.first_equals(members, shingling).map_err(Refusal::Host)
    }

    fn signature(&self, block: u32, shingling: &Shingling, hashing: &Hashing) -> Result<Vec<u32>, Refusal> {
        self.signature(block, shingling, hashing).map_err(Refusal::Host)
    }

    fn candidate_pairs(&self, members: &[u32], shingling: &Shingling, banding: &Banding) -> Result<Vec<Pair>, Refusal> {
        self.candidate_pairs(members, shingling, banding).map_err(Refusal::Host)
    }

    fn candidate_groups(
        &self,
        members: &[u32],
        shingling: &Shingling,
        banding: &Banding,
    ) -> Result<Vec<Vec<u32>>, Refusal> {
        self.candidate_groups(members, shingling, banding).map_err(Refusal::Host)
    }

    fn leaders(&self, order: &[u32], criteria: &[Criterion], banding: &Banding) -> Result<Vec<Follower>, Refusal> {
        self.leaders(order, criteria, banding).map_err(Refusal::Host)
    }

    fn similar_groups(&self, members: &[u32], criteria: &[Criterion]) -> Result<Vec<Vec<u32>>, Refusal> {
        self.similar_groups(members, criteria).map_err(Refusal::Host)
    }

    fn jaccard(&self, block: u32, others: &[u32], shingling: &Shingling) -> Result<Vec<f64>, Refusal> {
        self.jaccard(block, others, shingling).map_err(Refusal::Host)
    }

    fn structure(&self, block: u32) -> Structure {
        self.structure(block)
    }

    fn structure_digests(&self, members: &[u32]) -> Vec<String> {
        self.structure_digests(members)
    }

    fn structural_jaccard(&self, block: u32, others: &[u32]) -> Vec<f64> {
        self.structural_jaccard(block, others)
    }

    fn structure_index<'a>(&'a self, members: &[u32], threshold: f64) -> Box<dyn SimilarStructures + 'a> {
        Box::new(self.structure_index(members, threshold))
    }
}
