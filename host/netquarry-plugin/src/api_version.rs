//! The custom section in which a component says which version of the contract it was written against.
//!
//! `build.rs` includes this file too, to stamp the first-party components.

use std::fmt;
use std::str::FromStr;

use crate::sections::{Malformed, PREAMBLE_BYTES, append_custom, sections};

/// The name of the section. It stands at the top level of a component and holds the version in UTF-8.
pub const SECTION: &str = "netquarry-plugin-api";

/// `\0asm`, version 13, layer 1 (a component).
const COMPONENT_PREAMBLE: [u8; PREAMBLE_BYTES] = *b"\0asm\x0d\0\x01\0";

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

    /// Whether a component of this version runs on a host of version `host`: the host is at least as new, and as
    /// semantic versioning has it nothing was broken in between.
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
    #[error("it has no custom section `{SECTION}`")]
    NoSection,
    #[error("it has {0} custom sections `{SECTION}`, and a plugin has one")]
    Several(usize),
    #[error("its custom section `{SECTION}` holds {content:?}, which is not a version such as {}", ApiVersion::CURRENT)]
    NotAVersion { content: String },
}

/// Reads the version without looking at anything but the headers of the sections.
///
/// # Errors
///
/// Where the bytes are no component, and where the section is missing or does not hold a version.
pub fn read(component: &[u8]) -> Result<ApiVersion, ApiVersionError> {
    if !component.starts_with(&COMPONENT_PREAMBLE) {
        return Err(ApiVersionError::NotAComponent);
    }
    let sections = sections(component).map_err(|Malformed| ApiVersionError::Malformed)?;
    let customs = sections.into_iter().filter_map(|section| section.custom);
    let own: Vec<&[u8]> = customs.filter(|(name, _)| *name == SECTION.as_bytes()).map(|(_, content)| content).collect();
    let content = match own[..] {
        [] => return Err(ApiVersionError::NoSection),
        [content] => String::from_utf8_lossy(content),
        [..] => return Err(ApiVersionError::Several(own.len())),
    };
    content.parse().map_err(|()| ApiVersionError::NotAVersion { content: content.chars().take(40).collect() })
}

/// Appends the section to a component.
pub fn stamp(component: &mut Vec<u8>, version: ApiVersion) {
    append_custom(component, SECTION, version.to_string().as_bytes());
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
