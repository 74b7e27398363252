//! The hash functions of `datasketch` before its version 2: `h -> ((a * h + b) mod 2^64 mod (2^61 - 1)) mod 2^32`, with `a`
//! and `b` drawn by NumPy's `RandomState(1)`, applied to the first four bytes of a shingle's SHA-1.

use std::sync::OnceLock;

use multiversion::multiversion;
use rand_mt::Mt;

use super::minhash::Signature;
use super::shingles::Shingles;

const PRIME: u64 = (1 << 61) - 1;
const SEED: u32 = 1;
const MOST: usize = 256;

/// The factors and summands of all hash functions.
struct Functions {
    factors: [u64; MOST],
    summands: [u64; MOST],
}

impl Functions {
    fn get() -> &'static Self {
        static FUNCTIONS: OnceLock<Functions> = OnceLock::new();
        FUNCTIONS.get_or_init(|| {
            let mut generator = Mt::new(SEED);
            let mut functions = Self { factors: [0; MOST], summands: [0; MOST] };
            for (factor, summand) in functions.factors.iter_mut().zip(&mut functions.summands) {
                *factor = 1 + up_to(&mut generator, PRIME - 2);
                *summand = up_to(&mut generator, PRIME - 1);
            }
            functions
        })
    }
}

/// A number from 0 to `last`, drawn as NumPy does it: bits above the last one's are cut off, and what is too large is drawn
/// again.
fn up_to(generator: &mut Mt, last: u64) -> u64 {
    let mask = u64::MAX >> last.leading_zeros();
    loop {
        let [high, low] = [generator.next_u32(), generator.next_u32()].map(u64::from);
        let drawn = (high << 32 | low) & mask;
        if drawn <= last {
            return drawn;
        }
    }
}

/// The least value of each of the first `N` functions, at most [`MOST`].
pub(super) fn signature<const N: usize>(shingles: &Shingles) -> Signature {
    const { assert!(N <= MOST) };
    let Functions { factors, summands } = Functions::get();
    let mut least = [u32::MAX; N];
    lower(&mut least, factors, summands, shingles.hashes());
    Box::new(least)
}

/// Lowers each value to the least that its function has for one of the hashes. Compiled for wide registers too, and what
/// the machine has is chosen when it runs.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2", "aarch64+neon"))]
fn lower(least: &mut [u32], factors: &[u64; MOST], summands: &[u64; MOST], hashes: &[u64]) {
    for hash in hashes {
        // The first four of the eight bytes.
        let hash = hash & u64::from(u32::MAX);
        for ((least, factor), summand) in least.iter_mut().zip(factors).zip(summands) {
            *least = (*least).min(reduced(factor.wrapping_mul(hash).wrapping_add(*summand)) as u32);
        }
    }
}

/// The remainder by 2^61 - 1, without a division: 2^61 leaves 1.
fn reduced(value: u64) -> u64 {
    let folded = (value & PRIME) + (value >> 61);
    if folded >= PRIME { folded - PRIME } else { folded }
}

#[cfg(test)]
mod tests {
    use super::super::tokens::normalised_tokens;
    use super::*;

    /// From `datasketch.MinHash(num_perm=256, seed=1)` of datasketch 1.6.5: its `permutations`, and its `hashvalues` after
    /// `update(b"ID = NUM")`.
    #[test]
    fn functions_are_those_of_datasketch() {
        let Functions { factors, summands } = Functions::get();
        assert_eq!(factors[..3], [775_169_054_918_279_404, 2_109_959_069_025_162, 401_325_382_989_534_145]);
        assert_eq!(summands[..3], [1_758_426_461_858_698_312, 965_365_488_286_768_773, 1_703_346_441_743_126_657]);
        assert_eq!((factors[255], summands[255]), (1_369_100_512_183_171_272, 1_825_998_840_733_297_350));
        let signature = signature::<256>(&Shingles::new(&normalised_tokens("x = 1"), 10));
        assert_eq!(signature[..4], [3_924_883_775, 1_667_090_449, 725_634_985, 1_447_046_394]);
        assert_eq!(signature[255], 3_335_456_574);
    }

    #[test]
    fn remainders_need_no_division() {
        for value in [0, 1, PRIME - 1, PRIME, PRIME + 1, 2 * PRIME, 7 * PRIME + 6, u64::MAX - 1, u64::MAX] {
            assert_eq!(reduced(value), value % PRIME, "{value}");
        }
    }
}
