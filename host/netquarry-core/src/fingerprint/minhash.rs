//! MinHash signatures: by `minhash-rs`, and by the functions of `datasketch` where its decisions are to be reproduced.

use std::hash::Hasher as StdHasher;

use minhash_rs::hasher::Hasher;
use minhash_rs::minhash::MinHash;

use super::datasketch;
use super::shingles::Shingles;
use crate::dedup::{HashFamily, Hashing};

/// The share of equal values of two signatures estimates the Jaccard similarity of the sets that they were made of.
pub type Signature = Box<[u32]>;

/// The signature of a set of shingles, of 128 or 256 values: these sizes are compiled in, because `minhash-rs` takes them
/// as type parameters. All values of an empty set's are `u32::MAX`.
///
/// # Panics
/// There is no such size.
pub fn signature(shingles: &Shingles, hashing: Hashing) -> Signature {
    let Hashing { family, permutations } = hashing;
    match (family, permutations) {
        (HashFamily::MinhashRs, 128) => words::<128>(shingles),
        (HashFamily::MinhashRs, 256) => words::<256>(shingles),
        (HashFamily::Datasketch1, 128) => datasketch::signature::<128>(shingles),
        (HashFamily::Datasketch1, 256) => datasketch::signature::<256>(shingles),
        (_, permutations) => panic!("a signature of {permutations} values is not compiled in"),
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

#[cfg(test)]
mod tests {
    use super::super::shingles::jaccard;
    use super::super::tokens::normalised_tokens;
    use super::*;

    /// `count` different shingles from the number `first` on.
    fn shingles(first: u32, count: u32) -> Shingles {
        let names: Vec<String> = (first..first + count).map(|number| format!("Conv{number}")).collect();
        Shingles::new(&normalised_tokens(&names.join(" ")), 1)
    }

    const MINHASH_RS: Hashing = Hashing { family: HashFamily::MinhashRs, permutations: 128 };

    #[test]
    fn equal_values_estimate_the_similarity() {
        for family in HashFamily::ALL {
            check_estimates(Hashing { family, permutations: 256 });
        }
    }

    #[track_caller]
    fn check_estimates(hashing: Hashing) {
        let mut error = 0.0;
        let trials = 40;
        for trial in 0..trials {
            let (first, second) = (shingles(10_000 * trial, 500), shingles(10_000 * trial + 10 * trial, 500));
            let signatures = (signature(&first, hashing), signature(&second, hashing));
            let equal = signatures.0.iter().zip(&signatures.1).filter(|(a, b)| a == b).count();
            error += (equal as f64 / 256.0 - jaccard(&first, &second)).abs();
        }
        // The standard deviation of an estimate is at most 1 / (2 * 16).
        assert!(error / f64::from(trials) < 0.03, "{error}");
    }

    #[test]
    fn a_smaller_signature_is_a_prefix_of_a_larger_one() {
        let shingles = shingles(0, 100);
        for family in HashFamily::ALL {
            let [smaller, larger] =
                [128, 256].map(|permutations| signature(&shingles, Hashing { family, permutations }));
            assert_eq!(smaller[..], larger[..128], "{family}");
        }
    }

    /// Stored signatures are compared with new ones: they change only together with the name of the kernel.
    #[test]
    fn signatures_stay_what_they_are() {
        assert_eq!(signature(&shingles(0, 0), MINHASH_RS)[..], [u32::MAX; 128]);
        assert_eq!(signature(&shingles(0, 10), MINHASH_RS)[..4], [953_611_408, 226_131_321, 232_191_939, 956_317_364]);
    }
}
