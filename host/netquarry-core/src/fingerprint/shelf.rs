//! Where what was computed of many codes is kept: the memory that a corpus takes is not to grow with the length of its codes.

use std::fmt::Debug;
use std::sync::Mutex;

use sha1::{Digest, Sha1};

use super::shingles::{self, Shingles};
use super::structure;
use crate::dedup::{BlockSummary, Structure};

/// Bytes that need not be in memory. A failure is nobody's business who computes: an implementation remembers it, gives
/// zeros, and tells whoever made it, who lets nothing count that was computed.
pub trait Shelf: Debug + Send + Sync {
    /// Keeps the bytes; returns where they start.
    fn put(&self, bytes: &[u8]) -> u64;

    /// Fills `bytes` with those from `start` on.
    fn get(&self, start: u64, bytes: &mut [u8]);

    /// Whether something could not be kept or read, since when nothing that is computed counts.
    fn has_failed(&self) -> bool;
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

    fn has_failed(&self) -> bool {
        false
    }
}

/// Numbers on a shelf.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words {
    start: u64,
}

impl Words {
    /// Of numbers as [`bytes_of`] writes them.
    pub(super) fn put(shelf: &dyn Shelf, bytes: &[u8]) -> Self {
        Self { start: shelf.put(bytes) }
    }

    /// Those from the place `first` on, as many as `words` takes.
    pub(super) fn get(self, shelf: &dyn Shelf, first: usize, words: &mut [u64]) {
        let mut bytes = vec![0; size_of_val(words)];
        shelf.get(self.start + (first * size_of::<u64>()) as u64, &mut bytes);
        let (read, _) = bytes.as_chunks();
        words.iter_mut().zip(read).for_each(|(word, bytes)| *word = u64::from_le_bytes(*bytes));
    }
}

/// Numbers as they lie on a shelf and in an archive.
pub(super) fn bytes_of(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// A set of shingles on a shelf: a digest of them, and behind it their hashes.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShelvedSet {
    start: u64,
    count: u32,
}

pub(super) type SetDigest = [u8; 16];

impl ShelvedSet {
    /// Of the hashes of a set, as [`bytes_of`] writes them.
    pub(super) fn put(shelf: &dyn Shelf, hashes: &[u8]) -> Self {
        let mut bytes = Sha1::digest(hashes)[..size_of::<SetDigest>()].to_vec();
        bytes.extend(hashes);
        let count = u32::try_from(hashes.len() / size_of::<u64>()).expect("a code is under 4 GiB");
        Self { start: shelf.put(&bytes), count }
    }

    pub(super) fn get(self, shelf: &dyn Shelf) -> Shingles {
        let mut hashes = vec![0; self.len()];
        Words { start: self.start + size_of::<SetDigest>() as u64 }.get(shelf, 0, &mut hashes);
        Shingles::of_hashes(hashes)
    }

    /// How many shingles there are.
    pub(super) fn len(self) -> usize {
        self.count as usize
    }

    /// The same for equal sets, and for no others.
    pub(super) fn digest(self, shelf: &dyn Shelf) -> SetDigest {
        let mut digest = SetDigest::default();
        shelf.get(self.start, &mut digest);
        digest
    }

    /// Where it lies.
    #[cfg(test)]
    pub(super) fn place(self) -> u64 {
        self.start
    }

    /// The Jaccard similarity to a set that was read.
    pub(super) fn jaccard(self, shelf: &dyn Shelf, other: &Shingles) -> f64 {
        shingles::jaccard(other, &self.get(shelf))
    }
}

/// A structural fingerprint as it lies on a shelf and in an archive.
pub(super) struct Structured {
    sha256: [u8; 32],
    pub(super) text: Vec<u8>,
}

impl Structured {
    pub(super) fn new(structure: &Structure) -> Self {
        Self { sha256: structure.sha256, text: serde_json::to_vec(structure).expect("it has no maps") }
    }

    /// `None` where the text is none of a structure.
    pub(super) fn read(text: Vec<u8>) -> Option<Self> {
        let Structure { sha256, .. } = serde_json::from_slice(&text).ok()?;
        Some(Self { sha256, text })
    }
}

/// A structural fingerprint on a shelf: its digest, and behind that all of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShelvedStructure {
    start: u64,
    length: u32,
}

impl ShelvedStructure {
    pub(super) fn put(shelf: &dyn Shelf, Structured { sha256, text }: &Structured) -> Self {
        let length = u32::try_from(text.len()).expect("a code is under 4 GiB");
        Self { start: shelf.put(&[sha256, &**text].concat()), length }
    }

    /// [`Structure::sha256`]
    pub(super) fn sha256(self, shelf: &dyn Shelf) -> [u8; 32] {
        let mut sha256 = [0; 32];
        shelf.get(self.start, &mut sha256);
        sha256
    }

    /// That of an empty code where the shelf failed.
    pub(super) fn get(self, shelf: &dyn Shelf) -> Structure {
        let mut text = vec![0; self.length as usize];
        shelf.get(self.start + size_of::<[u8; 32]>() as u64, &mut text);
        serde_json::from_slice(&text).unwrap_or_else(|_| structure::structure(""))
    }
}

/// A summary on a shelf.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShelvedSummary {
    start: u64,
    length: u32,
}

impl ShelvedSummary {
    pub(super) fn put(shelf: &dyn Shelf, summary: &BlockSummary) -> Self {
        let bytes = postcard::to_stdvec(summary).expect("it has no maps");
        let length = u32::try_from(bytes.len()).expect("names are under 4 GiB");
        Self { start: shelf.put(&bytes), length }
    }

    /// An empty one where the shelf failed.
    pub(super) fn get(self, shelf: &dyn Shelf) -> BlockSummary {
        let mut bytes = vec![0; self.length as usize];
        shelf.get(self.start, &mut bytes);
        postcard::from_bytes(&bytes).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_come_back_as_they_were() {
        let shelf = InMemory::default();
        let sets = [vec![], vec![7], vec![1, 2, 9], vec![1, 2, 9], vec![u64::MAX, 0]].map(Shingles::of_hashes);
        let shelved = sets.each_ref().map(|set| ShelvedSet::put(&shelf, &bytes_of(set.hashes())));
        assert_eq!(shelved.map(|set| set.get(&shelf)), sets);
        assert_eq!(shelved.map(ShelvedSet::len), [0, 1, 3, 3, 2]);
        for (a, b) in (0..sets.len()).flat_map(|a| (0..sets.len()).map(move |b| (a, b))) {
            assert_eq!(shelved[a].digest(&shelf) == shelved[b].digest(&shelf), sets[a] == sets[b]);
            assert_eq!(shelved[a].jaccard(&shelf, &sets[b]), shingles::jaccard(&sets[a], &sets[b]));
        }
        let structure = structure::structure("nn.Linear(3, 4)(x)\n");
        let structured = Structured::new(&structure);
        assert_eq!(ShelvedStructure::put(&shelf, &structured).get(&shelf), structure);
        assert_eq!(ShelvedStructure::put(&shelf, &structured).sha256(&shelf), structure.sha256);
        assert!(Structured::read(structured.text).is_some_and(|read| read.sha256 == structure.sha256));
        let mut middle = [0; 2];
        Words::put(&shelf, &bytes_of(&[1, 2, 9])).get(&shelf, 1, &mut middle);
        assert_eq!(middle, [2, 9]);
        let summary = BlockSummary { id: "a#1".to_owned(), accuracy: Some(f64::INFINITY), ..BlockSummary::default() };
        assert_eq!(ShelvedSummary::put(&shelf, &summary).get(&shelf), summary);
    }
}
