//! Runs of consecutive tokens, and how many of them two codes share.

use sha1::{Digest, Sha1};

use super::tokens::NormalisedTokens;

/// The distinct shingles of a code as the first eight bytes of their SHA-1, little-endian, sorted.
///
/// The lower half is the value that NN-DUP's MinHash hashes a shingle to. Two of a million different shingles share all
/// eight bytes with a probability of 3 in 100 million, so these sets stand for the texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shingles(Box<[u64]>);

impl Shingles {
    /// All runs of `width` tokens; all tokens as one where there are fewer; nothing where there are none.
    ///
    /// # Panics
    /// `width` is 0.
    pub fn new(tokens: &NormalisedTokens, width: usize) -> Self {
        Self::of_hashes(hashes(tokens, width).collect())
    }

    /// The set of these hashes. Sorted runs in it make it cheaper.
    pub(super) fn of_hashes(mut hashes: Vec<u64>) -> Self {
        hashes.sort();
        hashes.dedup();
        Self(hashes.into_boxed_slice())
    }

    pub fn hashes(&self) -> &[u64] {
        &self.0
    }
}

/// The hashes of all shingles in their order, as often as they come.
///
/// # Panics
/// `width` is 0.
pub(super) fn hashes(tokens: &NormalisedTokens, width: usize) -> impl Iterator<Item = u64> {
    assert!(width > 0, "a shingle has a token at least");
    let width = width.min(tokens.len()).max(1);
    let count = (tokens.len() + 1).saturating_sub(width);
    (0..count).map(move |first| hash(tokens.slice(first, width)))
}

fn hash(shingle: &str) -> u64 {
    let digest = Sha1::digest(shingle.as_bytes());
    u64::from_le_bytes(*digest.first_chunk().expect("SHA-1 has twenty bytes"))
}

/// The size of the intersection over that of the union, in [0, 1]; 1 for two empty sets.
pub fn jaccard(first: &Shingles, second: &Shingles) -> f64 {
    let (first, second) = (first.hashes(), second.hashes());
    let shared = shared(first, second);
    let union = first.len() + second.len() - shared;
    if union == 0 { 1.0 } else { shared as f64 / union as f64 }
}

/// How many elements two sorted sets share.
pub(super) fn shared<T: Ord>(first: &[T], second: &[T]) -> usize {
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while let (Some(a), Some(b)) = (first.get(i), second.get(j)) {
        shared += usize::from(a == b);
        let (a_first, b_first) = (a <= b, b <= a);
        i += usize::from(a_first);
        j += usize::from(b_first);
    }
    shared
}

#[cfg(test)]
mod tests {
    use super::super::tokens::normalised_tokens;
    use super::*;

    fn shingles(code: &str, width: usize) -> Shingles {
        Shingles::new(&normalised_tokens(code), width)
    }

    #[test]
    fn a_shingle_is_the_sha1_of_tokens_with_blanks_between() {
        // `hashlib.sha1(b"ID = NUM").digest()[:8]`, read as a little-endian integer.
        assert_eq!(shingles("x = 1", 10).hashes(), [0xb668_3725_b749_6ce7]);
        assert_eq!(shingles("x = 1", 3), shingles("y = 2\n", 10));
    }

    #[test]
    fn the_number_of_shingles() {
        for (code, width, count) in [("", 10, 0), ("a", 10, 1), ("a + b", 3, 1), ("a + b", 2, 2), ("a + a + a", 2, 2)] {
            assert_eq!(shingles(code, width).hashes().len(), count, "{code}");
        }
    }

    #[test]
    fn similarity_is_what_is_shared() {
        let [empty, short, long] = ["", "a + b", "a + b - c"].map(|code| shingles(code, 2));
        assert_eq!(jaccard(&empty, &empty), 1.0);
        assert_eq!(jaccard(&empty, &short), 0.0);
        assert_eq!(jaccard(&short, &long), 0.5);
        assert_eq!(jaccard(&long, &long), 1.0);
    }
}
