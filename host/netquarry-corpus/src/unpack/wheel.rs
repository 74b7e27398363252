//! Zip archives: wheels, and sdists that are zipped.

use std::collections::BTreeMap;
use std::io::{Read, Seek};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use zip::ZipArchive;
use zip::result::ZipError;

use super::Unpacker;
use crate::contents::Contents;
use crate::failure::FetchFailure;
use crate::inventory::Inventory;
use crate::snapshot::Placed;

/// What becomes of the first segment of the members' names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Root {
    Kept,
    /// An sdist holds everything in one folder, which is not part of the source.
    Stripped,
}

/// `RECORD` of the largest known wheel has 2 MB.
const RECORD_LIMIT: u64 = 64 << 20;

pub(crate) fn open<R: Read + Seek>(reader: R, unpacker: &Unpacker<'_>) -> Result<ZipArchive<R>, FetchFailure> {
    ZipArchive::new(reader).map_err(|error| broken(unpacker, error))
}

/// Keeps what counts of a zip archive.
pub(crate) fn unpack<R: Read + Seek>(
    archive: &mut ZipArchive<R>,
    root: Root,
    unpacker: &mut Unpacker<'_>,
) -> Result<(), FetchFailure> {
    for index in 0..archive.len() {
        let name = archive.name_for_index(index).expect("the index is below the length");
        let Ok(name) = name.map(std::borrow::Cow::into_owned) else {
            unpacker.pass_over("a member.py", "its name is not text");
            continue;
        };
        let inner = match root {
            Root::Kept => &name,
            Root::Stripped => super::without_root(&name),
        };
        if name.ends_with('/') || inner.is_empty() {
            continue;
        }
        let Some((path, role)) = unpacker.admit(inner)? else { continue };
        let mut member = archive.by_index(index).map_err(|error| broken(unpacker, error))?;
        if member.is_symlink() {
            unpacker.pass_over(&path, "it is a link");
            continue;
        }
        unpacker.keep(path, role, &mut member)?;
    }
    Ok(())
}

/// The `RECORD` of a wheel: a line of path, digest and size for every member.
pub(crate) fn record<R: Read + Seek>(
    archive: &mut ZipArchive<R>,
    unpacker: &Unpacker<'_>,
) -> Result<String, FetchFailure> {
    let is_record = |name: &str| name.strip_suffix(".dist-info/RECORD").is_some_and(|start| !start.contains('/'));
    let names = archive.file_names().enumerate();
    let found = names.filter_map(|(index, name)| Some((index, name.ok()?))).find(|(_, name)| is_record(name));
    let Some((index, _)) = found else {
        let why = "it is no wheel: it has no RECORD".to_owned();
        return Err(FetchFailure::BrokenArchive { archive: unpacker.archive.to_owned(), why });
    };
    let member = archive.by_index(index).map_err(|error| broken(unpacker, error))?;
    let mut text = String::new();
    member.take(RECORD_LIMIT).read_to_string(&mut text).map_err(|error| unpacker.broken(error))?;
    Ok(text)
}

/// Checks what was unpacked into the folder `entry` against the digests of `RECORD`.
pub(crate) fn check_record(
    record: &str,
    inventory: &Inventory,
    entry: &Path,
    archive: &str,
) -> Result<(), FetchFailure> {
    let stated: BTreeMap<_, _> = record.lines().filter_map(record_line).collect();
    let contents = Contents::Packed(entry.to_path_buf());
    for file in &inventory.entries {
        let placed = Placed { place: file.place.clone(), digest: file.digest, bytes: file.bytes };
        let bytes = contents.read(&file.path, &placed).map_err(FetchFailure::io("read back", entry))?;
        let found = URL_SAFE_NO_PAD.encode(Sha256::digest(&bytes));
        if stated.get(file.path.as_str()).is_some_and(|expected| *expected == found) {
            continue;
        }
        return Err(FetchFailure::UnsafeArchive {
            archive: archive.to_owned(),
            member: file.path.clone(),
            why: "its SHA-256 is not the one that RECORD states".to_owned(),
        });
    }
    Ok(())
}

/// `path,sha256=<base64>,size`; a path that holds a comma is quoted.
fn record_line(line: &str) -> Option<(&str, &str)> {
    let mut fields = line.rsplitn(3, ',');
    let (_size, digest, path) = (fields.next()?, fields.next()?, fields.next()?);
    Some((path.trim_matches('"'), digest.strip_prefix("sha256=")?))
}

fn broken(unpacker: &Unpacker<'_>, error: ZipError) -> FetchFailure {
    match error {
        ZipError::Io(error) => unpacker.broken(error),
        error => FetchFailure::BrokenArchive { archive: unpacker.archive.to_owned(), why: error.to_string() },
    }
}
