//! The custom section in which a component says which version of the contract it was written against.
//!
//! `build.rs` includes this file too, to stamp the first-party components.

use std::fmt;
use std::str::FromStr;

/// The name of the section. It stands at the top level of a component and holds the version in UTF-8.
pub const SECTION: &str = "netquarry-plugin-api";

/// `\0asm`, version 13, layer 1 (a component).
const COMPONENT_PREAMBLE: [u8; 8] = *b"\0asm\x0d\0\x01\0";
const CUSTOM_SECTION: u8 = 0;

/// A version of the WIT package `netquarry:plugin`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ApiVersion {
    pub major: u16,
    pub minor: u16,
    pub patch: u16,
}

impl ApiVersion {
    /// The version of the package in `wit/`.
    pub const CURRENT: Self = Self { major: 0, minor: 1, patch: 0 };

    /// Whether a component of this version runs on a host of version `host`: the host is at least as new, and as semantic
    /// versioning has it nothing was broken in between.
    pub fn runs_on(self, host: Self) -> bool {
        let same_line = self.major == host.major && (host.major > 0 || self.minor == host.minor);
        same_line && self <= host
    }
}

impl fmt::Display for ApiVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

impl FromStr for ApiVersion {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut parts = text.split('.').map(|part| part.parse::<u16>().map_err(|_| ()));
        let mut next = || parts.next().ok_or(())?;
        let version = Self { major: next()?, minor: next()?, patch: next()? };
        if parts.next().is_none() { Ok(version) } else { Err(()) }
    }
}

/// Why no version can be read off.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApiVersionError {
    #[error("it is not a WebAssembly component (a core module has to be encoded as one)")]
    NotAComponent,
    #[error("it is cut short, or its sections are damaged")]
    Malformed,
    #[error("it has no custom section `{SECTION}`, so it is not a NetQuarry plugin")]
    NoSection,
    #[error("its custom section `{SECTION}` holds {content:?}, which is not a version such as {}", ApiVersion::CURRENT)]
    NotAVersion { content: String },
}

/// Reads the version without looking at anything but the headers of the sections.
///
/// # Errors
///
/// Where the bytes are no component, and where the section is missing or does not hold a version.
pub fn read(component: &[u8]) -> Result<ApiVersion, ApiVersionError> {
    let mut rest = component.strip_prefix(&COMPONENT_PREAMBLE).ok_or(ApiVersionError::NotAComponent)?;
    while let Some((&id, after)) = rest.split_first() {
        let (length, after) = read_leb128(after)?;
        let (payload, after) = after.split_at_checked(length).ok_or(ApiVersionError::Malformed)?;
        if id == CUSTOM_SECTION {
            let (length, name) = read_leb128(payload)?;
            let (name, content) = name.split_at_checked(length).ok_or(ApiVersionError::Malformed)?;
            if name == SECTION.as_bytes() {
                let content = String::from_utf8_lossy(content);
                let not_a_version = |()| ApiVersionError::NotAVersion { content: content.chars().take(40).collect() };
                return content.parse().map_err(not_a_version);
            }
        }
        rest = after;
    }
    Err(ApiVersionError::NoSection)
}

/// Appends the section to a component.
pub fn stamp(component: &mut Vec<u8>, version: ApiVersion) {
    let version = version.to_string();
    let mut payload = Vec::new();
    write_leb128(&mut payload, SECTION.len());
    payload.extend_from_slice(SECTION.as_bytes());
    payload.extend_from_slice(version.as_bytes());
    component.push(CUSTOM_SECTION);
    write_leb128(component, payload.len());
    component.extend_from_slice(&payload);
}

/// An unsigned number of at most 32 bits, and what follows it.
fn read_leb128(bytes: &[u8]) -> Result<(usize, &[u8]), ApiVersionError> {
    let mut value = 0_u32;
    for (index, byte) in bytes.iter().take(5).enumerate() {
        let bits = u32::from(byte & 0x7f);
        let shift = 7 * u32::try_from(index).expect("at most four");
        if bits.leading_zeros() < shift {
            return Err(ApiVersionError::Malformed);
        }
        value |= bits << shift;
        if byte & 0x80 == 0 {
            let value = usize::try_from(value).map_err(|_| ApiVersionError::Malformed)?;
            return Ok((value, &bytes[index + 1..]));
        }
    }
    Err(ApiVersionError::Malformed)
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

    fn component(sections: &[&[u8]]) -> Vec<u8> {
        [&COMPONENT_PREAMBLE, sections.concat().as_slice()].concat()
    }

    #[test]
    fn a_stamp_is_read_back() {
        let mut bytes = component(&[&[7, 2, 1, 1]]);
        stamp(&mut bytes, ApiVersion::CURRENT);
        assert_eq!(read(&bytes), Ok(ApiVersion::CURRENT));
    }

    #[test]
    fn damage_is_an_error() {
        assert_eq!(read(b"\0asm\x01\0\0\0"), Err(ApiVersionError::NotAComponent));
        assert_eq!(read(b""), Err(ApiVersionError::NotAComponent));
        assert_eq!(read(&component(&[])), Err(ApiVersionError::NoSection));
        assert_eq!(read(&component(&[&[1, 5, 0]])), Err(ApiVersionError::Malformed));
        assert_eq!(read(&component(&[&[1, 0xff, 0xff, 0xff, 0xff, 0xff]])), Err(ApiVersionError::Malformed));
        assert_eq!(read(&component(&[&[0, 3, 9, b'a', b'b']])), Err(ApiVersionError::Malformed));
    }

    #[test]
    fn something_else_in_the_section_is_shown() {
        let mut bytes = component(&[]);
        stamp(&mut bytes, ApiVersion::CURRENT);
        let last = bytes.len() - 1;
        bytes[last] = b'x';
        assert_eq!(read(&bytes), Err(ApiVersionError::NotAVersion { content: "0.1.x".to_owned() }));
    }

    #[test]
    fn the_version_is_that_of_the_wit_package() {
        let wit = include_str!("../../../wit/base.wit");
        assert!(wit.contains(&format!("package netquarry:plugin@{};", ApiVersion::CURRENT)));
    }

    #[test]
    fn older_components_of_the_same_line_run() {
        let version = |text: &str| text.parse::<ApiVersion>().expect("a version");
        assert!(version("0.1.0").runs_on(version("0.1.3")));
        assert!(!version("0.1.3").runs_on(version("0.1.0")));
        assert!(!version("0.1.0").runs_on(version("0.2.0")));
        assert!(version("1.2.0").runs_on(version("1.4.0")));
        assert!(!version("1.2.0").runs_on(version("2.0.0")));
    }
}
