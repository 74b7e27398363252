//! A [`BlockSet`] over codes in memory, which computes what is asked for and keeps it.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, OnceLock};

use rayon::prelude::*;

use super::banding::{self, Member};
use super::minhash::{self, Signature};
use super::shingles::{self, Shingles};
use super::structure;
use super::tokens::normalised_tokens;
use crate::dedup::{Banding, BlockSet, BlockSummary, Normalisation, Shingling, SimilarPair, Structure};

/// Blocks in memory. Tokens are made anew when asked for; shingles (8 bytes each), signatures (512 or 1,024 bytes) and
/// structures are kept once made. What concerns many blocks runs on the current rayon pool, whose threads need a stack
/// of [`crate::syntax::PARSER_STACK_BYTES`], as the calling thread does.
#[derive(Default)]
pub struct CodeBlocks {
    blocks: Vec<CodeBlock>,
}

struct CodeBlock {
    summary: BlockSummary,
    code: Arc<str>,
    shingles: Memo<Shingling, Shingles>,
    signatures: Memo<(Shingling, u32), Signature>,
    structure: OnceLock<Structure>,
}

impl CodeBlocks {
    /// Numbers the blocks in the order in which they come.
    pub fn new(blocks: impl IntoIterator<Item = (BlockSummary, Arc<str>)>) -> Self {
        let blocks = blocks.into_iter().map(|(summary, code)| CodeBlock {
            summary,
            code,
            shingles: Memo::default(),
            signatures: Memo::default(),
            structure: OnceLock::new(),
        });
        Self { blocks: blocks.collect() }
    }

    fn block(&self, block: u32) -> &CodeBlock {
        &self.blocks[block as usize]
    }
}

impl CodeBlock {
    fn shingles(&self, shingling: Shingling) -> Arc<Shingles> {
        self.shingles.get(shingling, || {
            let tokens = match shingling.normalisation {
                Normalisation::NnDup => normalised_tokens(&self.code),
            };
            Shingles::new(&tokens, shingling.width as usize)
        })
    }

    fn signature(&self, shingling: Shingling, permutations: u32) -> Arc<Signature> {
        self.signatures.get((shingling, permutations), || minhash::signature(&self.shingles(shingling), permutations))
    }

    fn structure(&self) -> &Structure {
        self.structure.get_or_init(|| structure::structure(&self.code))
    }
}

impl BlockSet for CodeBlocks {
    fn len(&self) -> u32 {
        u32::try_from(self.blocks.len()).expect("blocks are numbered with 32 bits")
    }

    fn summary(&self, block: u32) -> BlockSummary {
        self.block(block).summary.clone()
    }

    fn code(&self, block: u32) -> Cow<'_, str> {
        Cow::Borrowed(&self.block(block).code)
    }

    fn tokens(&self, block: u32, normalisation: Normalisation) -> Vec<String> {
        let Normalisation::NnDup = normalisation;
        normalised_tokens(&self.block(block).code).iter().map(str::to_owned).collect()
    }

    fn shingle_count(&self, block: u32, shingling: Shingling) -> u32 {
        let count = self.block(block).shingles(shingling).hashes().len();
        u32::try_from(count).expect("a block has fewer shingles than bytes")
    }

    fn signature(&self, block: u32, shingling: Shingling, permutations: u32) -> Vec<u32> {
        self.block(block).signature(shingling, permutations).to_vec()
    }

    fn candidate_pairs(&self, members: &[u32], shingling: Shingling, banding: Banding) -> Vec<(u32, u32)> {
        let signatures: Vec<Arc<Signature>> =
            members.par_iter().map(|member| self.block(*member).signature(shingling, banding.permutations)).collect();
        let members: Vec<Member<'_>> =
            members.iter().copied().zip(signatures.iter().map(|signature| &***signature)).collect();
        banding::candidate_pairs(&members, banding)
    }

    fn jaccard(&self, block: u32, others: &[u32], shingling: Shingling) -> Vec<f64> {
        let own = self.block(block).shingles(shingling);
        others.iter().map(|other| shingles::jaccard(&own, &self.block(*other).shingles(shingling))).collect()
    }

    fn structure(&self, block: u32) -> Structure {
        self.block(block).structure().clone()
    }

    fn structure_digests(&self, members: &[u32]) -> Vec<[u8; 32]> {
        members.par_iter().map(|member| self.block(*member).structure().sha256).collect()
    }

    fn structural_pairs(&self, members: &[u32], threshold: f64) -> Vec<SimilarPair> {
        let members: Vec<(u32, &Structure)> =
            members.par_iter().map(|member| (*member, self.block(*member).structure())).collect();
        structure::structural_pairs(&members, threshold)
    }
}

/// Values by the parameters that they were computed with: hardly ever more than one.
struct Memo<K, V> {
    values: Mutex<Vec<(K, Arc<V>)>>,
}

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Self { values: Mutex::default() }
    }
}

impl<K: PartialEq, V> Memo<K, V> {
    /// Two threads that ask for the same value at once may both compute it.
    fn get(&self, key: K, compute: impl FnOnce() -> V) -> Arc<V> {
        if let Some(value) = self.find(&key) {
            return value;
        }
        let value = Arc::new(compute());
        self.values.lock().expect("no panic while it is held").push((key, Arc::clone(&value)));
        value
    }

    fn find(&self, key: &K) -> Option<Arc<V>> {
        let values = self.values.lock().expect("no panic while it is held");
        values.iter().find(|(known, _)| known == key).map(|(_, value)| Arc::clone(value))
    }
}
