//! SHA-256 digests as this crate writes them, and what pins a file.

use std::fmt;

use sha2::{Digest, Sha256};

/// No component and no golden pack may be larger.
pub const SIZE_LIMIT: u64 = 256 << 20;

/// SHA-256 in 64 lower-case hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// What the bytes of a file must be, wherever they come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    pub sha256: String,
    /// In bytes.
    pub size: u64,
}

/// How bytes differ from what was pinned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mismatch {
    Size { expected: u64, found: u64 },
    Digest { expected: String, found: String },
}

impl Pin {
    /// The pin that these bytes fit.
    pub fn of(bytes: &[u8]) -> Self {
        Self { sha256: sha256(bytes), size: bytes.len() as u64 }
    }

    /// # Errors
    /// Where these are other bytes.
    pub fn check(&self, bytes: &[u8]) -> Result<(), Mismatch> {
        let found = bytes.len() as u64;
        if found != self.size {
            return Err(Mismatch::Size { expected: self.size, found });
        }
        let found = sha256(bytes);
        if found == self.sha256 { Ok(()) } else { Err(Mismatch::Digest { expected: self.sha256.clone(), found }) }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size { expected, found } => write!(formatter, "it has {found} bytes, but {expected} are pinned"),
            Self::Digest { expected, found } => write!(formatter, "it has SHA-256 {found}, but {expected} is pinned"),
        }
    }
}
