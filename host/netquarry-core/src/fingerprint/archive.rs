//! What was computed of a code in an earlier run, so that adding codes to many computes nothing of the many again.

use std::fmt::{self, Debug};

use sha1::{Digest, Sha1};

use crate::dedup::{Banding, BlockSummary, Shingling};

/// Goes up whenever some kernel gives anything else for the same code than before, so that what is archived counts no more.
pub const FINGERPRINT_VERSION: u32 = 3;

/// Keeps bytes under digests of all that they depend on. A failure is nobody's business who computes: an implementation
/// finds nothing then, remembers why, and tells whoever made it.
pub trait Archive: Debug + Send + Sync {
    /// What was kept under the key, by this run or an earlier one.
    fn find(&self, key: ArchiveKey) -> Option<Vec<u8>>;

    /// Keeps the bytes; not necessarily at once.
    fn keep(&self, key: ArchiveKey, bytes: Vec<u8>);

    /// Whether it keeps anything: keys are made for nothing where it does not.
    fn remembers(&self) -> bool {
        true
    }
}

/// For a single run: keeps nothing.
#[derive(Debug)]
pub struct Forgetful;

impl Archive for Forgetful {
    fn find(&self, _: ArchiveKey) -> Option<Vec<u8>> {
        None
    }

    fn keep(&self, _: ArchiveKey, _: Vec<u8>) {}

    fn remembers(&self) -> bool {
        false
    }
}

/// A digest of [`FINGERPRINT_VERSION`], a code, the name of its block, and what is computed of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArchiveKey(pub [u8; 20]);

impl ArchiveKey {
    pub(super) fn new(block: &BlockSummary, part: Part) -> Self {
        let mut digest = Sha1::new();
        digest.update(block.sha256);
        digest.update(format!("{FINGERPRINT_VERSION} {part} {}", block.name));
        Self(digest.finalize().into())
    }
}

/// What is computed of a code.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// The hashes of its shingles.
    Shingles(Shingling),
    /// Those of the small views of its canonical form, which are computed together.
    Views,
    /// The digests of its signature's bands.
    Keys(Shingling, Banding),
    Structure,
}

impl fmt::Display for Part {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shingles = |Shingling { normalisation, width }: &Shingling| format!("{normalisation} {width}");
        match self {
            Self::Shingles(shingling) => write!(formatter, "shingles {}", shingles(shingling)),
            Self::Keys(shingling, Banding { hashing, bands, rows }) => {
                let (family, permutations) = (hashing.family, hashing.permutations);
                write!(formatter, "keys {} {family} {permutations} {bands} {rows}", shingles(shingling))
            }
            Self::Views => formatter.write_str("views"),
            Self::Structure => formatter.write_str("structure"),
        }
    }
}
