//! Strategies that decide which blocks are duplicates of others.

use crate::Plugin;
use crate::bindings::dedup_strategy::netquarry::plugin::blocks::BlockSet;
pub use crate::bindings::dedup_strategy::netquarry::plugin::blocks::{
    Banding, BlockSummary, Pair, Removal, Shingling, SimilarPair, Structure,
};

/// A plugin of the kind `dedup-strategy`.
pub trait DedupStrategy: Plugin {
    /// Looks at the whole set and returns what goes, sorted by block.
    ///
    /// # Errors
    ///
    /// A sentence; nothing is then removed by the strategy.
    fn deduplicate(&self, blocks: &dyn Blocks) -> Result<Vec<Removal>, String>;
}

/// The blocks, numbered from 0, and the host's kernels over them. The host's own are behind a resource; a test brings
/// an implementation of its own.
pub trait Blocks {
    fn count(&self) -> u32;

    /// At most `count` summaries from `start` on.
    fn summaries(&self, start: u32, count: u32) -> Vec<BlockSummary>;

    /// The code that is compared.
    fn code(&self, block: u32) -> String;

    /// Normalised tokens.
    fn tokens(&self, block: u32, normalisation: &str) -> Result<Vec<String>, String>;

    /// The number of distinct shingles.
    fn shingle_count(&self, block: u32, shingling: &Shingling) -> Result<u32, String>;

    fn signature(&self, block: u32, shingling: &Shingling, permutations: u32) -> Result<Vec<u32>, String>;

    /// Pairs of members that collide in some band; sorted.
    fn candidate_pairs(&self, members: &[u32], shingling: &Shingling, banding: Banding) -> Result<Vec<Pair>, String>;

    /// Exact Jaccard similarity of the shingle sets of `block` and each of `others`.
    fn jaccard(&self, block: u32, others: &[u32], shingling: &Shingling) -> Result<Vec<f64>, String>;

    /// The structural fingerprint.
    fn structure(&self, block: u32) -> Structure;

    /// SHA-256 of the structures of all members, as hexadecimal digits.
    fn structure_digests(&self, members: &[u32]) -> Vec<String>;

    /// Pairs of members whose structures reach the similarity; sorted.
    fn structural_pairs(&self, members: &[u32], threshold: f64) -> Vec<SimilarPair>;
}

impl Blocks for BlockSet {
    fn count(&self) -> u32 {
        self.len()
    }

    fn summaries(&self, start: u32, count: u32) -> Vec<BlockSummary> {
        self.summaries(start, count)
    }

    fn code(&self, block: u32) -> String {
        self.code(block)
    }

    fn tokens(&self, block: u32, normalisation: &str) -> Result<Vec<String>, String> {
        self.tokens(block, normalisation)
    }

    fn shingle_count(&self, block: u32, shingling: &Shingling) -> Result<u32, String> {
        self.shingle_count(block, shingling)
    }

    fn signature(&self, block: u32, shingling: &Shingling, permutations: u32) -> Result<Vec<u32>, String> {
        self.signature(block, shingling, permutations)
    }

    fn candidate_pairs(&self, members: &[u32], shingling: &Shingling, banding: Banding) -> Result<Vec<Pair>, String> {
        self.candidate_pairs(members, shingling, banding)
    }

    fn jaccard(&self, block: u32, others: &[u32], shingling: &Shingling) -> Result<Vec<f64>, String> {
        self.jaccard(block, others, shingling)
    }

    fn structure(&self, block: u32) -> Structure {
        self.structure(block)
    }

    fn structure_digests(&self, members: &[u32]) -> Vec<String> {
        self.structure_digests(members)
    }

    fn structural_pairs(&self, members: &[u32], threshold: f64) -> Vec<SimilarPair> {
        self.structural_pairs(members, threshold)
    }
}
