//! How a value lies in a column: a CRC-32 of the payload, little-endian, then the payload.
//!
//! SQLite does not check what it reads back. Facts that were damaged on disk could still decode, and then index out of
//! their own tables; so they are looked at only when the checksum agrees.

use rusqlite::Row;
use rusqlite::types::ValueRef;
use serde::Serialize;
use serde::de::DeserializeOwned;

const CHECKSUM_BYTES: usize = 4;

/// Bytes behind their checksum.
pub(crate) fn seal(payload: &[u8]) -> Vec<u8> {
    let mut body = Vec::with_capacity(CHECKSUM_BYTES + payload.len());
    body.extend_from_slice(&crc32fast::hash(payload).to_le_bytes());
    body.extend_from_slice(payload);
    body
}

/// The body in the first column of `row`. Anything but a blob is damage, and nothing that [`open`] accepts.
pub(crate) fn column<'r>(row: &'r Row<'_>) -> rusqlite::Result<&'r [u8]> {
    match row.get_ref(0)? {
        ValueRef::Blob(body) => Ok(body),
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Text(_) => Ok(&[]),
    }
}

/// `None` where the checksum does not agree.
pub(crate) fn open(body: &[u8]) -> Option<&[u8]> {
    let (checksum, payload) = body.split_first_chunk::<CHECKSUM_BYTES>()?;
    (u32::from_le_bytes(*checksum) == crc32fast::hash(payload)).then_some(payload)
}

/// Compact and fast, and tied to the exact layout of the type: for what a version number guards.
pub(crate) fn encode<T: Serialize>(value: &T) -> Vec<u8> {
    let buffer = vec![0; CHECKSUM_BYTES];
    let mut body = postcard::to_extend(value, buffer).expect("a vector takes everything that can be serialised");
    let checksum = crc32fast::hash(&body[CHECKSUM_BYTES..]).to_le_bytes();
    body[..CHECKSUM_BYTES].copy_from_slice(&checksum);
    body
}

/// `None` where the body is damaged or of another layout.
pub(crate) fn decode<T: DeserializeOwned>(body: &[u8]) -> Option<T> {
    let (value, rest) = postcard::take_from_bytes(open(body)?).ok()?;
    rest.is_empty().then_some(value)
}

/// As JSON, for what people look at with `sqlite3`.
pub(crate) fn encode_json<T: Serialize>(value: &T) -> Vec<u8> {
    seal(&serde_json::to_vec(value).expect("the types of records have string keys and no failing serialiser"))
}

pub(crate) fn decode_json<T: DeserializeOwned>(body: &[u8]) -> Option<T> {
    serde_json::from_slice(open(body)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_body_opens_only_unchanged() {
        let body = seal(b"payload");
        assert_eq!(open(&body), Some(b"payload".as_slice()));
        for index in 0..body.len() {
            let mut damaged = body.clone();
            damaged[index] ^= 0x10;
            assert_eq!(open(&damaged), None, "byte {index}");
        }
        assert_eq!(open(&body[..3]), None);
    }

    #[test]
    fn what_is_left_over_is_not_ignored() {
        let two = encode(&(1_u8, 2_u8));
        assert_eq!(decode::<(u8, u8)>(&two), Some((1, 2)));
        assert_eq!(decode::<u8>(&two), None);
    }
}
