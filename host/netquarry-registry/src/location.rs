//! Where a component lies, as an index writes it.

use std::fmt;
use std::str::FromStr;

use netquarry_plugin::emitted_path::check_path;
use reqwest::Url;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::oci::OciReference;

/// Where a component lies. Whatever this says, its bytes must have the digest and the size of its version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Location {
    /// In the program itself, by name. Only in the first-party registry; in its repository a golden pack is the file
    /// `golden.json` in the folder of the plugin.
    Embedded(String),
    /// A path, relative to the registry's file and inside of its folder. Of a registry at a URL it is relative to that.
    File(String),
    /// A URL, or a path relative to the URL of the registry's file.
    Https(String),
    /// A reference such as `ghcr.io/owner/plugins/name:1.0.0`.
    Oci(String),
}

impl Location {
    /// # Errors
    /// Why nothing can lie there.
    pub(crate) fn check(&self) -> Result<(), String> {
        match self {
            Self::Embedded(name) => crate::name::check_name(name),
            Self::File(path) => check_path(path),
            Self::Https(text) if text.contains("://") => check_url(text).map(drop),
            Self::Https(path) => check_path(path),
            Self::Oci(reference) => reference.parse::<OciReference>().map(drop),
        }
    }
}

/// A URL from which this program fetches: `https`, or `http` on this machine.
pub(crate) fn check_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| format!("{text:?} is not a URL: {error}"))?;
    if is_safe(&url) {
        Ok(url)
    } else {
        Err(format!("{text:?} is not fetched: use https (http only for this machine)"))
    }
}

/// Whether what lies at `from` may name `to` to be fetched. Servers of this machine are for places on it: a registry elsewhere
/// is not to have them asked.
pub(crate) fn leads_on(from: &Url, to: &Url) -> bool {
    is_safe(to) && (to.scheme() == "https" || from.scheme() == "http")
}

fn is_safe(url: &Url) -> bool {
    url.scheme() == "https" || (url.scheme() == "http" && is_loopback(url.host_str().unwrap_or_default()))
}

pub(crate) fn is_loopback(host: &str) -> bool {
    matches!(host, "127.0.0.1" | "localhost" | "[::1]")
}

impl fmt::Display for Location {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, place) = match self {
            Self::Embedded(name) => ("embedded", name),
            Self::File(path) => ("file", path),
            Self::Https(url) => ("https", url),
            Self::Oci(reference) => ("oci", reference),
        };
        write!(formatter, "{kind} {place}")
    }
}

impl FromStr for Location {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, place) = text.split_once(' ').unwrap_or((text, ""));
        let place = place.to_owned();
        let location = match kind {
            "embedded" => Self::Embedded(place),
            "file" => Self::File(place),
            "https" => Self::Https(place),
            "oci" => Self::Oci(place),
            _ => {
                return Err(format!("{text:?} is not a location: embedded, file, https or oci, a blank and the place"));
            }
        };
        location.check()?;
        Ok(location)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_and_read_again() {
        for text in [
            "embedded dedup-exact",
            "file plugins/a/a-1.0.0.wasm",
            "https https://example.org/a.wasm",
            "https a/b.wasm",
            "https http://127.0.0.1:80/a",
            "https http://[::1]/a",
            "https http://localhost/a",
            "oci ghcr.io/owner/name:1.0.0",
        ] {
            assert_eq!(text.parse::<Location>().expect(text).to_string(), text);
        }
    }

    #[test]
    fn nothing_elsewhere_leads_to_this_machine() {
        let (here, there) = ("http://127.0.0.1:80/a", "https://example.org/a");
        for (from, to, expected) in [
            (there, "https://example.com/b", true),
            (here, there, true),
            (here, "http://localhost/b", true),
            (there, here, false),
            (there, "http://example.org/a", false),
            (here, "http://example.org/a", false),
        ] {
            let url = |text: &str| Url::parse(text).expect(text);
            assert_eq!(leads_on(&url(from), &url(to)), expected, "{from} {to}");
        }
    }

    #[test]
    fn refused() {
        for text in [
            "",
            "file",
            "file /etc/passwd",
            "file ../a.wasm",
            "file a/../../b",
            "file a\\b",
            "file C:/a",
            "embedded ../a",
            "https ../a.wasm",
            "https http://example.org/a.wasm",
            "https http://127.0.0.1.example.org/a",
            "https ftp://example.org/a",
            "https file:///etc/passwd",
            "oci name",
            "ftp a",
        ] {
            assert!(text.parse::<Location>().is_err(), "{text}");
        }
    }
}
