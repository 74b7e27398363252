//! A source as it was fetched: its Python files, licences, packaging metadata and small data files, read-only.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::time::SystemTime;

use netquarry_core::source::{ContentDigest, Source, SourceFile};
use serde::{Deserialize, Serialize};

use crate::contents::Contents;
use crate::inventory::{Entry, Inventory, Place, Role};
use crate::metadata::DistributionMetadata;

/// A file beside the code: data that a module may read, or a licence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompanionFile {
    /// Relative to the root of the source, with forward slashes.
    pub path: String,
    pub digest: ContentDigest,
    pub bytes: u64,
}

/// A file that was left out of a snapshot, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedFile {
    pub path: String,
    pub why: String,
}

/// How far the transfer of a source was checked against what its origin published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Integrity {
    /// The whole archive has the SHA-256 that the index states.
    ArchiveDigest,
    /// Only parts of the archive were transferred; each member has the SHA-256 that the archive's own `RECORD` states.
    RecordDigests,
    /// The index states no SHA-256.
    Unstated,
    /// Objects of git are named by their digest.
    ObjectNames,
    /// A local copy, taken as it is.
    Local,
}

/// One source at one version, ready to be read. Cheap to hold: contents stay on disk until they are asked for.
#[derive(Debug)]
pub struct Snapshot {
    pub source: Source,
    /// Python files, sorted by path.
    pub files: Vec<SourceFile>,
    /// Small `.json`, `.txt`, `.yaml` and `.yml` files, sorted by path.
    pub data: Vec<CompanionFile>,
    /// Licence and notice texts, sorted by path.
    pub licenses: Vec<CompanionFile>,
    pub metadata: DistributionMetadata,
    /// The folders from which imports start, relative to the root; `.` is the root itself.
    pub import_roots: Vec<String>,
    pub skipped: Vec<SkippedFile>,
    pub integrity: Integrity,
    /// When it was fetched, to the second; `None` for what lies on this machine, and where nobody kept it.
    pub fetched: Option<SystemTime>,
    /// Forty hexadecimal digits over everything that later stages see: equal snapshots have equal identities.
    pub identity: String,
    pub(crate) contents: Contents,
    /// Where the bytes of each file are, by path.
    pub(crate) places: BTreeMap<String, Placed>,
}

#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub(crate) place: Place,
    pub(crate) digest: ContentDigest,
    pub(crate) bytes: u64,
}

/// Why a file of a snapshot cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("{source_name}: there is no file {path} in the snapshot")]
    NoSuchFile { source_name: String, path: String },
    #[error("{source_name}: cannot read {path}: {error}")]
    Unreadable { source_name: String, path: String, error: io::Error },
    /// The bytes are no longer those that were fetched.
    #[error("{source_name}: {path} has changed since it was fetched (SHA-1 {found}, was {expected})")]
    Changed { source_name: String, path: String, expected: ContentDigest, found: ContentDigest },
    #[error("cannot write {path}: {error}")]
    Unwritable { path: String, error: io::Error },
}

impl ReadError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoSuchFile { .. } => "ask for a path that `Snapshot::files` or `Snapshot::data` lists",
            Self::Unreadable { .. } | Self::Changed { .. } => {
                "run again: a damaged cache entry is fetched anew, a changed folder is read anew"
            }
            Self::Unwritable { .. } => "make room, or choose a folder that can be written to",
        }
    }
}

impl Snapshot {
    /// The bytes of a Python file of this snapshot.
    ///
    /// # Errors
    /// If they cannot be read, or are not those of the digest: what is kept under a digest is never poisoned.
    pub fn read(&self, file: &SourceFile) -> Result<Vec<u8>, ReadError> {
        self.read_path(&file.path)
    }

    /// The bytes of any file of this snapshot: code, data or licence.
    ///
    /// # Errors
    /// As [`Self::read`]; and if the snapshot has no such file.
    pub fn read_path(&self, path: &str) -> Result<Vec<u8>, ReadError> {
        let source_name = || self.source.name.clone();
        let Some(placed) = self.places.get(path) else {
            return Err(ReadError::NoSuchFile { source_name: source_name(), path: path.to_owned() });
        };
        let bytes = self.contents.read(path, placed).map_err(|error| {
            self.contents.mark_damaged();
            ReadError::Unreadable { source_name: source_name(), path: path.to_owned(), error }
        })?;
        let found = ContentDigest::of(&bytes);
        if found != placed.digest {
            self.contents.mark_damaged();
            return Err(ReadError::Changed {
                source_name: source_name(),
                path: path.to_owned(),
                expected: placed.digest,
                found,
            });
        }
        Ok(bytes)
    }

    /// The paths of all files of this snapshot, sorted.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.places.keys().map(String::as_str)
    }

    /// Writes the code and the data into `folder`, each at its path: a copy that Python can import. Paths of a snapshot
    /// never leave its root. Two paths that a file system cannot tell apart are not merged: the second is left out.
    ///
    /// # Errors
    /// If something cannot be read or written.
    pub fn materialise(&self, folder: &Path) -> Result<(), ReadError> {
        let paths = self.files.iter().map(|file| &file.path).chain(self.data.iter().map(|file| &file.path));
        for path in paths {
            let bytes = self.read_path(path)?;
            match write_new(&folder.join(path), &bytes) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(ReadError::Unwritable { path: folder.join(path).display().to_string(), error });
                }
                Ok(()) | Err(_) => {}
            }
        }
        Ok(())
    }

    /// Puts a snapshot together from what fetching found.
    pub(crate) fn assemble(parts: Parts) -> Self {
        let Parts { source, inventory, modules, import_roots, metadata, integrity, fetched, contents } = parts;
        let Inventory { mut entries, skipped } = inventory;
        entries.sort_by(|left, right| left.path.cmp(&right.path));
        let files: Vec<_> = (entries.iter())
            .filter(|entry| entry.role == Role::Python)
            .map(|entry| SourceFile {
                path: entry.path.clone(),
                module: modules.get(&entry.path).cloned(),
                digest: entry.digest,
                bytes: entry.bytes,
            })
            .collect();
        let companions = |role| entries.iter().filter(|entry| entry.role == role).map(companion).collect::<Vec<_>>();
        let (data, licenses) = (companions(Role::Data), companions(Role::License));
        let identity = identity(&source, &files, &data);
        let placed =
            |entry: Entry| (entry.path, Placed { place: entry.place, digest: entry.digest, bytes: entry.bytes });
        let places = entries.into_iter().map(placed).collect();
        Self {
            source,
            files,
            data,
            licenses,
            metadata,
            import_roots,
            skipped,
            integrity,
            fetched,
            identity,
            contents,
            places,
        }
    }
}

pub(crate) struct Parts {
    pub(crate) source: Source,
    pub(crate) inventory: Inventory,
    /// The dotted name of each Python file that has one, by path.
    pub(crate) modules: BTreeMap<String, String>,
    pub(crate) import_roots: Vec<String>,
    pub(crate) metadata: DistributionMetadata,
    pub(crate) integrity: Integrity,
    pub(crate) fetched: Option<SystemTime>,
    pub(crate) contents: Contents,
}

fn companion(entry: &Entry) -> CompanionFile {
    CompanionFile { path: entry.path.clone(), digest: entry.digest, bytes: entry.bytes }
}

/// Paths hold no control characters, so that the separators are unambiguous.
fn identity(source: &Source, files: &[SourceFile], data: &[CompanionFile]) -> String {
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let mut description = [
        source.name.as_str(),
        &text(&source.version),
        &text(&source.commit),
        &text(&source.license),
        &text(&source.distribution),
    ]
    .join("\t");
    for file in files {
        description += &format!("\n{}\t{}\t{}", file.path, text(&file.module), file.digest);
    }
    for file in data {
        description += &format!("\n{}\t{}", file.path, file.digest);
    }
    ContentDigest::of(description.as_bytes()).to_string()
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    io::Write::write_all(&mut std::fs::File::create_new(path)?, bytes)
}
