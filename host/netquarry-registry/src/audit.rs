//! Whether a folder with a registry, published or vendored, is what its index says: no file missing, changed or too many.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::digest::{Mismatch, Pin};
use crate::files::read_bounded;
use crate::index::{FILE_NAME, Index, IndexedVersion};
use crate::location::Location;
use crate::publish::{LOCK_FILE, PublishError, io as failed, keys, read};
use crate::site::inside;
use crate::trust::{Subject, Trust, TrustError, verify};

/// Something in which a folder is not what its index says.
#[derive(Debug, thiserror::Error)]
pub enum Finding {
    #[error("{plugin}: {path} cannot be read: {why}")]
    Missing { plugin: String, path: String, why: String },
    #[error("{plugin}: {path} is not what the index means: {mismatch}")]
    Changed { plugin: String, path: String, mismatch: Mismatch },
    #[error(transparent)]
    Trust(#[from] TrustError),
    #[error("{path} is not named by the index")]
    Stray { path: String },
}

/// What is wrong with the registry in `folder`, in the order of the index, then of the paths. Files elsewhere, at URLs,
/// are not looked at. Beside what the index names a folder may hold `.git`, `README.md` and licences.
///
/// # Errors
/// If the index cannot be read or is not as the format has it, or the folder cannot be listed.
pub fn audit(folder: &Path) -> Result<Vec<Finding>, PublishError> {
    let index = read(folder)?;
    let mut findings = Vec::new();
    let mut named = BTreeSet::new();
    let keys = keys(&index);
    for (name, version) in versions(&index) {
        let plugin = format!("{name} {}", version.version);
        let pin = version.pin().expect("the index was checked");
        if let Some(component) = check_file(folder, &plugin, &version.location, &pin, &mut named, &mut findings) {
            let subject = Subject { name, version: &version.version, component: &component };
            let verdict = verify(subject, version.signature.as_deref(), &keys, Trust::AllowUnsigned);
            findings.extend(verdict.err().map(Finding::Trust));
        }
        if let Some(golden) = &version.golden {
            check_file(folder, &plugin, &golden.location, &golden.pin(), &mut named, &mut findings);
        }
    }
    let files = files(folder).map_err(failed("list", folder))?;
    findings.extend(files.into_iter().filter(|path| !named.contains(path)).map(|path| Finding::Stray { path }));
    Ok(findings)
}

fn versions(index: &Index) -> impl Iterator<Item = (&str, &IndexedVersion)> {
    let plugins = index.plugins.iter();
    plugins.flat_map(|(name, plugin)| plugin.versions.iter().map(move |version| (name.as_str(), version)))
}

/// The bytes of a file that is what it should be. Notes its path.
fn check_file(
    folder: &Path,
    plugin: &str,
    location: &Location,
    pin: &Pin,
    named: &mut BTreeSet<String>,
    findings: &mut Vec<Finding>,
) -> Option<Vec<u8>> {
    let Location::File(path) = location else { return None };
    named.insert(path.clone());
    let (plugin, shown) = (plugin.to_owned(), path.clone());
    let read = |file: PathBuf| read_bounded(&file, pin.size).map_err(|error| error.to_string());
    match inside(folder, path).and_then(read) {
        Err(why) => findings.push(Finding::Missing { plugin, path: shown, why }),
        Ok(bytes) => match pin.check(&bytes) {
            Ok(()) => return Some(bytes),
            Err(mismatch) => findings.push(Finding::Changed { plugin, path: shown, mismatch }),
        },
    }
    None
}

/// All files in a folder by their relative path, sorted, but those that every registry may have. Links are not followed.
fn files(folder: &Path) -> io::Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    let mut folders = vec![(folder.to_path_buf(), String::new())];
    while let Some((folder, prefix)) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if prefix.is_empty() && is_usual(&name) {
                continue;
            }
            let path = format!("{prefix}{name}");
            if entry.file_type()?.is_dir() {
                folders.push((entry.path(), format!("{path}/")));
            } else {
                found.insert(path);
            }
        }
    }
    Ok(found)
}

fn is_usual(name: &str) -> bool {
    matches!(name, FILE_NAME | LOCK_FILE | ".git" | "README.md") || name.starts_with("LICENSE")
}
