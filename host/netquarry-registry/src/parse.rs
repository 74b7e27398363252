//! From the text of a `registry.json` to an [`Index`] of which everything holds that the format promises.

use netquarry_plugin::emitted_path::check_path;
use netquarry_plugin::legible;
use reqwest::Url;
use semver::{Version, VersionReq};
use serde::Deserialize;

use crate::digest::{SIZE_LIMIT, is_sha256};
use crate::index::{FORMAT, GoldenPack, Index, IndexedPlugin, IndexedVersion};
use crate::location::Location;
use crate::name::{FIRST_PARTY, check_name};
use crate::trust::PublicKey;

/// Why a text is no index. `file` is its path or URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IndexError {
    #[error("{file}:{line}:{column}: this is not JSON: {message}; a registry's file is as registry.schema.json has it")]
    Syntax { file: String, line: usize, column: usize, message: String },
    #[error(
        "{file} is a registry of format {found}, and this program reads format {FORMAT}: use a NetQuarry that knows it"
    )]
    Format { file: String, found: u64 },
    /// `place` is a path such as `plugins.shim-timm.versions[0].sha256`.
    #[error("{file}: `{place}`: {message}; ask whoever runs the registry to correct it (registry.schema.json)")]
    Content { file: String, place: String, message: String },
}

/// An index of a third party: no version is embedded, all have digests. `file` is what errors call it.
///
/// # Errors
/// If it is not as the format has it.
pub fn parse(text: &str, file: &str) -> Result<Index, IndexError> {
    let index = read(text, file)?;
    let content = |(place, message)| IndexError::Content { file: file.to_owned(), place, message };
    if index.name == FIRST_PARTY {
        let message = format!("only the registry in the program is called `{FIRST_PARTY}`");
        return Err(content(("name".to_owned(), message)));
    }
    for (name, plugin) in &index.plugins {
        for (number, version) in plugin.versions.iter().enumerate() {
            third_party(version).map_err(|(place, message)| content((version_place(name, number, place), message)))?;
        }
    }
    Ok(index)
}

/// The first-party index, whose versions lie in the program.
///
/// # Errors
/// As [`parse`].
pub fn parse_first_party(text: &str, file: &str) -> Result<Index, IndexError> {
    read(text, file)
}

/// A part of the format, and all that matters of any other one.
#[derive(Deserialize)]
struct AnyFormat {
    format: u64,
}

fn read(text: &str, file: &str) -> Result<Index, IndexError> {
    if let Ok(AnyFormat { format }) = serde_json::from_str(text)
        && format != u64::from(FORMAT)
    {
        return Err(IndexError::Format { file: file.to_owned(), found: format });
    }
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let index: Index = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let place = shown(&error.path().to_string());
        let inner = error.into_inner();
        if inner.is_data() {
            return IndexError::Content { file: file.to_owned(), place, message: shown(&inner.to_string()) };
        }
        syntax(file, &inner)
    })?;
    deserializer.end().map_err(|error| syntax(file, &error))?;
    check(&index).map_err(|(place, message)| IndexError::Content { file: file.to_owned(), place, message })?;
    Ok(index)
}

/// What quotes the text, which nobody has looked at yet.
fn shown(text: &str) -> String {
    const BYTES: usize = 1024;
    legible(text, BYTES)
}

fn syntax(file: &str, error: &serde_json::Error) -> IndexError {
    let (line, column) = (error.line(), error.column());
    IndexError::Syntax { file: file.to_owned(), line, column, message: error.to_string() }
}

/// A place in the document, and what is wrong there.
type Fault<Place> = (Place, String);

/// What the types cannot say.
fn check(index: &Index) -> Result<(), Fault<String>> {
    check_name(&index.name).map_err(|why| ("name".to_owned(), why))?;
    for (number, key) in index.keys.iter().enumerate() {
        PublicKey::parse(&key.key).map_err(|why| (format!("keys[{number}].key"), why))?;
    }
    for (name, plugin) in &index.plugins {
        check_name(name).map_err(|why| ("plugins".to_owned(), why))?;
        let place = |field| format!("plugins.{name}.{field}");
        check_plugin(plugin).map_err(|(field, why)| (place(field), why))?;
        let mut newest: Option<Version> = None;
        for (number, version) in plugin.versions.iter().enumerate() {
            let place = |field| version_place(name, number, field);
            let parsed = check_version(version).map_err(|(field, why)| (place(field), why))?;
            if newest.is_some_and(|newest| newest >= parsed) {
                let why = "versions stand in order, the oldest first, each once".to_owned();
                return Err((place("version"), why));
            }
            newest = Some(parsed);
        }
    }
    Ok(())
}

fn version_place(name: &str, number: usize, field: &str) -> String {
    format!("plugins.{name}.versions[{number}].{field}")
}

/// What holds of a plugin apart from its versions.
fn check_plugin(plugin: &IndexedPlugin) -> Result<(), Fault<&'static str>> {
    plugin_faults(plugin).into_iter().next().map_or(Ok(()), Err)
}

/// All in which a plugin, apart from its versions, is not what has to hold of it.
pub(crate) fn plugin_faults(plugin: &IndexedPlugin) -> Vec<Fault<&'static str>> {
    let mut faults = Vec::new();
    if plugin.summary.trim().is_empty() || plugin.summary.contains(char::is_control) {
        faults.push(("summary", "a summary is one line of text".to_owned()));
    }
    if let Err(error) = spdx::Expression::parse(&plugin.license) {
        let why =
            format!("{:?} is not an SPDX expression ({}), such as MIT OR Apache-2.0", plugin.license, error.reason);
        faults.push(("license", why));
    }
    if plugin.repository != "." && Url::parse(&plugin.repository).is_err() {
        faults.push(("repository", format!("{:?} is neither a URL nor `.`", plugin.repository)));
    }
    faults.extend(plugin.folder.as_deref().and_then(|folder| check_path(folder).err()).map(|why| ("folder", why)));
    faults
}

/// What holds of a version in any registry.
pub(crate) fn check_version(version: &IndexedVersion) -> Result<Version, Fault<&'static str>> {
    let parsed = Version::parse(&version.version)
        .map_err(|error| ("version", format!("{:?} is not a semantic version: {error}", version.version)))?;
    VersionReq::parse(&version.wit)
        .map_err(|error| ("wit", format!("{:?} is not a requirement: {error}", version.wit)))?;
    version.location.check().map_err(|why| ("location", why))?;
    if let Some(sha256) = &version.sha256 {
        check_digest(sha256).map_err(|why| ("sha256", why))?;
    }
    if let Some(size) = version.size {
        check_size(size).map_err(|why| ("size", why))?;
    }
    if let Some(reason) = &version.yanked {
        check_reason(reason).map_err(|why| ("yanked", why))?;
    }
    if let Some(golden) = &version.golden {
        check_golden(golden)?;
    }
    for permission in &version.permissions {
        check_name(&permission.name).map_err(|why| ("permissions", why))?;
        if permission.scope.contains(char::is_control) {
            return Err(("permissions", format!("the scope {:?} is not one line of text", permission.scope)));
        }
    }
    Ok(parsed)
}

/// Why a version was yanked: what a terminal shows to whoever asks for it.
pub(crate) fn check_reason(reason: &str) -> Result<(), String> {
    if reason.trim().is_empty() {
        Err("a version is yanked for a reason".to_owned())
    } else if reason.contains(char::is_control) {
        Err("the reason is not one line of text".to_owned())
    } else {
        Ok(())
    }
}

fn check_golden(golden: &GoldenPack) -> Result<(), Fault<&'static str>> {
    check_digest(&golden.sha256).map_err(|why| ("golden.sha256", why))?;
    check_size(golden.size).map_err(|why| ("golden.size", why))?;
    golden.location.check().map_err(|why| ("golden.location", why))
}

/// What holds besides in a registry that is not part of the program.
fn third_party(version: &IndexedVersion) -> Result<(), Fault<&'static str>> {
    let golden = version.golden.as_ref().map(|golden| &golden.location);
    for location in [Some(&version.location), golden].into_iter().flatten() {
        if matches!(location, Location::Embedded(_)) {
            return Err(("location", "only first-party components are embedded in the program".to_owned()));
        }
    }
    if version.sha256.is_none() {
        return Err(("sha256", "a version has the SHA-256 of its component".to_owned()));
    }
    if version.size.is_none() {
        return Err(("size", "a version has the size of its component".to_owned()));
    }
    Ok(())
}

fn check_digest(text: &str) -> Result<(), String> {
    if is_sha256(text) { Ok(()) } else { Err(format!("{text:?} is not a SHA-256: 64 lower-case hexadecimal digits")) }
}

fn check_size(size: u64) -> Result<(), String> {
    if (1..=SIZE_LIMIT).contains(&size) {
        Ok(())
    } else {
        Err(format!("{size} bytes is not a size that is fetched: from 1 to {SIZE_LIMIT}"))
    }
}
