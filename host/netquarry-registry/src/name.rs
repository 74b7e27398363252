//! What plugins and registries may be called.

use netquarry_plugin::first_party;
use semver::VersionReq;

const LONGEST: usize = 64;

/// The name of the registry that is part of the program.
pub const FIRST_PARTY: &str = "netquarry";

/// Lower-case letters, digits and hyphens, at most 64: a name is also a part of paths and URLs.
///
/// # Errors
/// Why it is no name.
pub fn check_name(name: &str) -> Result<(), String> {
    let allowed = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    if name.is_empty() || name.len() > LONGEST || !name.chars().all(allowed) || name.starts_with('-') {
        let why = "a name has up to 64 lower-case letters, digits and hyphens, and starts with no hyphen";
        return Err(format!("{name:?} is not a name: {why}"));
    }
    Ok(())
}

/// Whether a plugin of the program itself has this name. No registry can give it to another one.
pub fn is_first_party(name: &str) -> bool {
    first_party().iter().any(|component| component.name == name)
}

/// `NAME` or `NAME@REQUIREMENT`: what somebody wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    pub name: String,
    /// As [`semver`] has them; `*` where nothing was asked for.
    pub requirement: VersionReq,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} does not name a plugin: {why}; write NAME or NAME@REQUIREMENT, such as shim-timm@^1.2")]
pub struct RequestError {
    pub text: String,
    pub why: String,
}

impl std::str::FromStr for Request {
    type Err = RequestError;

    fn from_str(text: &str) -> Result<Self, RequestError> {
        let failure = |why: String| RequestError { text: text.to_owned(), why };
        let (name, requirement) = match text.split_once('@') {
            Some((name, requirement)) => {
                (name, VersionReq::parse(requirement).map_err(|error| failure(error.to_string()))?)
            }
            None => (text, VersionReq::STAR),
        };
        check_name(name).map_err(failure)?;
        Ok(Self { name: name.to_owned(), requirement })
    }
}

impl std::fmt::Display for Request {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.requirement == VersionReq::STAR {
            formatter.write_str(&self.name)
        } else {
            write!(formatter, "{}@{}", self.name, self.requirement)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let longest = "a".repeat(64);
        for name in ["a", "shim-timm", "9", "a-", &longest] {
            assert_eq!(check_name(name), Ok(()), "{name}");
        }
        for name in ["", "A", "a_b", "a/b", "..", "a.b", "-a", "ä", &"a".repeat(65)] {
            assert!(check_name(name).is_err(), "{name}");
        }
    }

    #[test]
    fn requests() {
        for text in ["shim-timm", "shim-timm@^1.2", "shim-timm@=1.2.0"] {
            assert_eq!(text.parse::<Request>().expect(text).to_string(), text);
        }
        for text in ["", "@1", "a@", "a@?", "A@1", "a@1@2"] {
            assert!(text.parse::<Request>().is_err(), "{text}");
        }
    }
}
