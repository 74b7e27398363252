//! Where what was computed of many codes is kept: the memory that a corpus takes is not to grow with the length of its codes.

use std::fmt::Debug;
use std::sync::Mutex;

use sha1::{Digest, Sha1};

use super::shingles::{self, Shingles};
use super::structure;
use crate::dedup::Structure;

/// Bytes that need not be in memory. A failure is nobody's business who computes: an implementation remembers it, gives
/// zeros, and tells whoever made it, who lets nothing count that was computed.
pub trait Shelf: Debug + Send + Sync {
    /// Keeps the bytes; returns where they start.
    fn put(&self, bytes: &[u8]) -> u64;

    /// Fills `bytes` with those from `start` on.
    fn get(&self, start: u64, bytes: &mut [u8]);
}

/// For few codes.
#[derive(Debug, Default)]
pub struct InMemory(Mutex<Vec<u8>>);

impl Shelf for InMemory {
    fn put(&self, bytes: &[u8]) -> u64 {
        let mut all = self.0.lock().expect("no panic while it is held");
        let start = all.len();
        all.extend(bytes);
        start as u64
    }

    fn get(&self, start: u64, bytes: &mut [u8]) {
        let all = self.0.lock().expect("no panic while it is held");
        let start = usize::try_from(start).expect("it lies in memory");
        bytes.copy_from_slice(&all[start..start + bytes.len()]);
    }
}

/// Numbers on a shelf.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words {
    start: u64,
    count: u32,
}

impl Words {
    pub(super) fn put(shelf: &dyn Shelf, words: &[u64]) -> Self {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let count = u32::try_from(words.len()).expect("a code is under 4 GiB");
        Self { start: shelf.put(&bytes), count }
    }

    /// Those from the place `first` on, as many as `words` takes.
    pub(super) fn get(self, shelf: &dyn Shelf, first: usize, words: &mut [u64]) {
        let mut bytes = vec![0; size_of_val(words)];
        shelf.get(self.start + (first * size_of::<u64>()) as u64, &mut bytes);
        let (read, _) = bytes.as_chunks();
        words.iter_mut().zip(read).for_each(|(word, bytes)| *word = u64::from_le_bytes(*bytes));
    }
}

/// A set of shingles on a shelf.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShelvedSet {
    hashes: Words,
    digest: [u8; 16],
}

impl ShelvedSet {
    pub(super) fn put(shelf: &dyn Shelf, shingles: &Shingles) -> Self {
        let mut digest = Sha1::new();
        shingles.hashes().iter().for_each(|hash| digest.update(hash.to_le_bytes()));
        let digest = *digest.finalize().first_chunk().expect("SHA-1 has twenty bytes");
        Self { hashes: Words::put(shelf, shingles.hashes()), digest }
    }

    pub(super) fn get(self, shelf: &dyn Shelf) -> Shingles {
        let mut hashes = vec![0; self.len()];
        self.hashes.get(shelf, 0, &mut hashes);
        Shingles::of_hashes(hashes)
    }

    /// How many shingles there are.
    pub(super) fn len(self) -> usize {
        self.hashes.count as usize
    }

    /// The same for equal sets, and for no others.
    pub(super) fn digest(self) -> [u8; 16] {
        self.digest
    }

    /// Where it lies.
    #[cfg(test)]
    pub(super) fn place(self) -> u64 {
        self.hashes.start
    }

    /// The Jaccard similarity to a set that was read.
    pub(super) fn jaccard(self, shelf: &dyn Shelf, other: &Shingles) -> f64 {
        shingles::jaccard(other, &self.get(shelf))
    }
}

/// A structural fingerprint on a shelf.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShelvedStructure {
    pub(super) sha256: [u8; 32],
    start: u64,
    length: usize,
}

impl ShelvedStructure {
    pub(super) fn put(shelf: &dyn Shelf, structure: &Structure) -> Self {
        let text = serde_json::to_vec(structure).expect("it has no maps");
        Self { sha256: structure.sha256, start: shelf.put(&text), length: text.len() }
    }

    /// That of an empty code where the shelf failed.
    pub(super) fn get(self, shelf: &dyn Shelf) -> Structure {
        let mut text = vec![0; self.length];
        shelf.get(self.start, &mut text);
        serde_json::from_slice(&text).unwrap_or_else(|_| structure::structure(""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_come_back_as_they_were() {
        let shelf = InMemory::default();
        let sets = [vec![], vec![7], vec![1, 2, 9], vec![1, 2, 9], vec![u64::MAX, 0]].map(Shingles::of_hashes);
        let shelved = sets.each_ref().map(|set| ShelvedSet::put(&shelf, set));
        assert_eq!(shelved.map(|set| set.get(&shelf)), sets);
        assert_eq!(shelved.map(ShelvedSet::len), [0, 1, 3, 3, 2]);
        for (a, b) in (0..sets.len()).flat_map(|a| (0..sets.len()).map(move |b| (a, b))) {
            assert_eq!(shelved[a].digest() == shelved[b].digest(), sets[a] == sets[b]);
            assert_eq!(shelved[a].jaccard(&shelf, &sets[b]), shingles::jaccard(&sets[a], &sets[b]));
        }
        let structure = structure::structure("nn.Linear(3, 4)(x)\n");
        assert_eq!(ShelvedStructure::put(&shelf, &structure).get(&shelf), structure);
        let mut middle = [0; 2];
        shelved[2].hashes.get(&shelf, 1, &mut middle);
        assert_eq!(middle, [2, 9]);
    }
}
