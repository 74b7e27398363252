//! MinHash signatures, made by `minhash-rs`.

use std::hash::Hasher as StdHasher;

use minhash_rs::hasher::Hasher;
use minhash_rs::minhash::MinHash;

use super::shingles::Shingles;

/// The share of equal values of two signatures estimates the Jaccard similarity of the sets that they were made of.
pub type Signature = Box<[u32]>;

/// The sizes that are compiled in: the crate takes them as type parameters.
pub const PERMUTATIONS: [u32; 2] = [128, 256];

/// The signature of a set of shingles, of one of the sizes in [`PERMUTATIONS`]. All values of an empty set's are
/// `u32::MAX`.
///
/// # Panics
/// There is no such size.
pub fn signature(shingles: &Shingles, permutations: u32) -> Signature {
    match permutations {
        128 => words::<128>(shingles),
        256 => words::<256>(shingles),
        _ => panic!("a signature of {permutations} values is not compiled in"),
    }
}

fn words<const N: usize>(shingles: &Shingles) -> Signature {
    let minhash: MinHash<u32, N, Prehashed, u64, u64> = shingles.hashes().iter().copied().collect();
    Box::new(minhash.into_words())
}

/// Takes a shingle's SHA-1 for its hash. `minhash-rs` mixes it before it draws values from it.
struct Prehashed;

impl Hasher for Prehashed {
    type Concrete = PrehashedState;

    fn build() -> Self::Concrete {
        PrehashedState(0)
    }
}

struct PrehashedState(u64);

impl StdHasher for PrehashedState {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _bytes: &[u8]) {
        unreachable!("a shingle hashes itself as one u64");
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}
