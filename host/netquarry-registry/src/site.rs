//! Where a registry lies, and where that puts its components.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use reqwest::Url;

use crate::index::FILE_NAME;
use crate::location::{Location, check_url, leads_on};
use crate::oci::OciReference;
use crate::transfer::without_credentials;

/// The place of a `registry.json`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Site {
    File(PathBuf),
    Url(Url),
}

/// The place of a component or of a golden pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Embedded(String),
    /// In this folder, at this relative path.
    File {
        folder: PathBuf,
        path: String,
    },
    Url(Url),
    Oci {
        reference: OciReference,
        text: String,
    },
}

impl Site {
    /// `text` is a URL or a path, of the file or of the folder that holds it. Relative paths start at `folder`.
    pub(crate) fn parse(text: &str, folder: &Path) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Err("it is empty; give the URL or the path of a registry.json".to_owned());
        }
        if text.contains("://") {
            let mut url = check_url(text)?;
            if !url.path().ends_with(".json") {
                let mut segments = url.path_segments_mut().expect("http URLs have a path");
                segments.pop_if_empty().push(FILE_NAME);
            }
            return Ok(Self::Url(url));
        }
        let path = folder.join(text);
        let is_file = path.extension().is_some_and(|extension| extension == "json") && !path.is_dir();
        Ok(Self::File(if is_file { path } else { path.join(FILE_NAME) }))
    }

    /// Where a location of this registry's index leads.
    pub(crate) fn place(&self, location: &Location) -> Result<Place, String> {
        location.check()?;
        Ok(match (location, self) {
            (Location::Embedded(name), _) => Place::Embedded(name.clone()),
            (Location::File(path), Self::File(file)) => Place::File { folder: folder_of(file), path: path.clone() },
            (Location::Https(text), site) if text.contains("://") => {
                let url = check_url(text)?;
                if matches!(site, Self::Url(from) if !leads_on(from, &url)) {
                    return Err(format!("{text:?} is on this machine, and the registry is not"));
                }
                Place::Url(url)
            }
            (Location::File(path) | Location::Https(path), Self::Url(url)) => Place::Url(beside(url, path)),
            (Location::Https(path), Self::File(file)) => {
                return Err(format!("{path:?} is relative to a URL, and the registry is the file {}", file.display()));
            }
            (Location::Oci(text), _) => Place::Oci { reference: text.parse()?, text: text.clone() },
        })
    }
}

fn folder_of(file: &Path) -> PathBuf {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_path_buf()
}

/// The URL of a file beside `index`. Nothing in `path` is read as a query or as a way up.
fn beside(index: &Url, path: &str) -> Url {
    let mut url = index.clone();
    url.set_query(None);
    url.set_fragment(None);
    url.path_segments_mut().expect("http URLs have a path").pop().extend(path.split('/'));
    url
}

/// The file at `path` in `folder`, where no symbolic link leads out of the folder.
pub(crate) fn inside(folder: &Path, path: &str) -> Result<PathBuf, String> {
    let file = folder.join(path);
    let real = |path: &Path| fs::canonicalize(path).map_err(|error| format!("{}: {error}", path.display()));
    let (real_folder, real_file) = (real(folder)?, real(&file)?);
    if real_file.starts_with(&real_folder) {
        Ok(real_file)
    } else {
        Err(format!("{} is a link out of the registry's folder", file.display()))
    }
}

impl fmt::Display for Site {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(formatter),
            Self::Url(url) => formatter.write_str(&without_credentials(url)),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Embedded(name) => write!(formatter, "`{name}` in the program"),
            Self::File { folder, path } => folder.join(path).display().fmt(formatter),
            Self::Url(url) => formatter.write_str(&without_credentials(url)),
            Self::Oci { text, .. } => write!(formatter, "oci {text}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_beside_a_url_stays_beside_it() {
        let site = Site::parse("https://example.org/r", Path::new("/")).expect("a site");
        let place = |path: &str| site.place(&Location::File(path.to_owned())).map(|place| place.to_string());
        assert_eq!(place("a/b.wasm").as_deref(), Ok("https://example.org/r/a/b.wasm"));
        assert_eq!(place("a#b%2e.wasm").as_deref(), Ok("https://example.org/r/a%23b%252e.wasm"));
        assert!(place("../b.wasm").is_err());
        let named = |url: &str| site.place(&Location::Https(url.to_owned())).map(|place| place.to_string());
        assert!(named("https://example.com/b.wasm").is_ok());
        assert!(named("http://127.0.0.1/b.wasm").is_err_and(|why| why.contains("on this machine")));
        assert!(place("%2e%2e/b.wasm").is_ok_and(|url| url.starts_with("https://example.org/r/")));
    }
}
