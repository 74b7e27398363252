//! The sections of a WebAssembly binary, core module or component, without a look inside.
//!
//! `build.rs` includes this file too.

use std::ops::Range;

/// `\0asm`, then version and layer.
pub(crate) const PREAMBLE_BYTES: usize = 8;

const CUSTOM: u8 = 0;

/// One section at the top level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Section<'a> {
    /// In the binary, with the section's header.
    pub(crate) range: Range<usize>,
    /// Name and content, of a custom section.
    pub(crate) custom: Option<(&'a [u8], &'a [u8])>,
}

/// The bytes end within a section, or a length is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

/// All sections behind the preamble, in order.
pub(crate) fn sections(binary: &[u8]) -> Result<Vec<Section<'_>>, Malformed> {
    let mut sections = Vec::new();
    let mut rest = binary.get(PREAMBLE_BYTES..).ok_or(Malformed)?;
    while let Some((&id, after)) = rest.split_first() {
        let start = binary.len() - rest.len();
        let (length, after) = read_leb128(after)?;
        let (payload, after) = after.split_at_checked(length).ok_or(Malformed)?;
        let custom = if id == CUSTOM {
            let (length, name) = read_leb128(payload)?;
            Some(name.split_at_checked(length).ok_or(Malformed)?)
        } else {
            None
        };
        sections.push(Section { range: start..binary.len() - after.len(), custom });
        rest = after;
    }
    Ok(sections)
}

/// Appends a custom section.
pub(crate) fn append_custom(binary: &mut Vec<u8>, name: &str, content: &[u8]) {
    let mut payload = Vec::new();
    write_leb128(&mut payload, name.len());
    payload.extend_from_slice(name.as_bytes());
    payload.extend_from_slice(content);
    binary.push(CUSTOM);
    write_leb128(binary, payload.len());
    binary.extend_from_slice(&payload);
}

/// An unsigned number of at most 32 bits, and what follows it.
fn read_leb128(bytes: &[u8]) -> Result<(usize, &[u8]), Malformed> {
    let mut value = 0_u32;
    for (index, byte) in bytes.iter().take(5).enumerate() {
        let bits = u32::from(byte & 0x7f);
        let shift = 7 * u32::try_from(index).expect("at most four");
        if bits.leading_zeros() < shift {
            return Err(Malformed);
        }
        value |= bits << shift;
        if byte & 0x80 == 0 {
            return Ok((usize::try_from(value).map_err(|_| Malformed)?, &bytes[index + 1..]));
        }
    }
    Err(Malformed)
}

fn write_leb128(bytes: &mut Vec<u8>, mut value: usize) {
    loop {
        let low = u8::try_from(value & 0x7f).expect("seven bits");
        value >>= 7;
        if value == 0 {
            bytes.push(low);
            return;
        }
        bytes.push(low | 0x80);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_found_and_appended() {
        let mut binary = b"\0asm\x01\0\0\0".to_vec();
        binary.extend([1, 2, 9, 9]);
        let long = [7; 300];
        append_custom(&mut binary, "name", &long);
        let sections = sections(&binary).expect("the sections are whole");
        assert_eq!(sections[0], Section { range: 8..12, custom: None });
        assert_eq!(sections[1].custom, Some((b"name".as_slice(), long.as_slice())));
        assert_eq!(sections[1].range, 12..binary.len());
    }

    #[test]
    fn damage_is_an_error() {
        let with = |bytes: &[u8]| [b"\0asm\x01\0\0\0", bytes].concat();
        for damaged in [b"".as_slice(), &[1], &[1, 5, 0], &[1, 0xff, 0xff, 0xff, 0xff, 0xff, 0], &[0, 3, 9, b'a', b'b']]
        {
            let binary = if damaged.is_empty() { Vec::new() } else { with(damaged) };
            assert_eq!(sections(&binary), Err(Malformed), "{damaged:?}");
        }
    }
}
