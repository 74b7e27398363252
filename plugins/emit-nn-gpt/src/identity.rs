//! Digests that take the place of chance: identities of records, and the side of the split.

use serde::{Deserialize, Serialize};
use sha1::{Digest, Sha1};
use sha2::Sha256;

/// RFC 9562's name space for URLs, a URN among them.
const NAMESPACE: [u8; 16] = *b"\x6b\xa7\xb8\x11\x9d\xad\x11\xd1\x80\xb4\x00\xc0\x4f\xd4\x30\xc8";

/// A UUID of version 5, by RFC 9562: as Python's `uuid.uuid5(uuid.NAMESPACE_URL, name)`.
pub(crate) fn uuid(name: &str) -> String {
    let digest = Sha1::new().chain_update(NAMESPACE).chain_update(name).finalize();
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    bytes[6] = bytes[6] & 0x0f | 0x50;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}

/// A side of the split.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Split {
    Train,
    Dev,
    Test,
}

impl Split {
    pub(crate) const ALL: [Self; 3] = [Self::Train, Self::Dev, Self::Test];

    /// Of a group of blocks, as datasets of `netquarry export` have it: the end of the group's SHA-256 is its place between 0
    /// and 1, where training comes first and testing last. A group moves only where shares do, whatever comes into the
    /// library beside it.
    pub(crate) fn of(group: &str, dev_share: f64, test_share: f64) -> Self {
        let digest = Sha256::digest(group);
        let end = digest[28..].iter().fold(0_u32, |number, byte| number << 8 | u32::from(*byte));
        let place = f64::from(end) / 4_294_967_296.0;
        if place < 1.0 - test_share - dev_share {
            Self::Train
        } else if place < 1.0 - test_share {
            Self::Dev
        } else {
            Self::Test
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Dev => "dev",
            Self::Test => "test",
        }
    }
}
