//! A copy of everything that a lock pins, as a registry in a folder: a project that has it needs no network.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::catalog::{Catalog, CatalogError};
use crate::fetch::FetchError;
use crate::files::write_whole;
use crate::index::{FILE_NAME, Index, IndexKey, IndexedPlugin, IndexedVersion};
use crate::location::Location;
use crate::lock::{Lock, LockedPlugin};
use crate::publish::{FolderLock, PublishError, io, read, write};
use crate::trust::{Subject, Trust, TrustError, Voucher, verify};

/// What a vendored registry calls itself; no other one is overwritten.
pub const NAME: &str = "vendored";

#[derive(Debug, thiserror::Error)]
pub enum VendorError {
    #[error(transparent)]
    Fetch(#[from] FetchError),
    #[error(transparent)]
    Trust(#[from] TrustError),
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    #[error(transparent)]
    Folder(#[from] PublishError),
    #[error("{} holds the registry `{name}`, not a vendored one: choose another folder", folder.display())]
    OtherRegistry { folder: PathBuf, name: String },
}

/// Copies the components and golden packs of all locked plugins but those in the program, and returns the index of the
/// folder. Where all of them are signed it has their keys; where some are not it has none, and the lock alone says who
/// vouched for what. Files of an earlier copy that are no longer locked are removed.
///
/// # Errors
/// If anything cannot be fetched, is not what its registry says, or cannot be written.
pub fn vendor(catalog: &Catalog<'_>, lock: &Lock, folder: &Path) -> Result<Index, VendorError> {
    let mut index = Index::new(NAME, Vec::new());
    let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut keys: BTreeMap<String, IndexKey> = BTreeMap::new();
    let mut all_signed = true;
    let third_party = |plugin: &&LockedPlugin| plugin.voucher != Voucher::BuiltIn;
    for locked in lock.plugins().iter().filter(third_party) {
        let (plugin, version) = copy(catalog, locked, &mut files)?;
        match signing_key(catalog, locked, &version, &files)? {
            Some((id, key)) => drop(keys.insert(id, key)),
            None => all_signed = false,
        }
        index.plugins.insert(locked.name.clone(), IndexedPlugin { versions: vec![version], folder: None, ..plugin });
    }
    if all_signed {
        index.keys = keys.into_values().collect();
    }
    let _lock = FolderLock::take(folder)?;
    let stale = stale_files(folder, &files)?;
    for (path, bytes) in &files {
        let path = folder.join(path);
        write_whole(&path, bytes).map_err(io("write", &path))?;
    }
    write(folder, &index)?;
    for path in stale {
        fs::remove_file(&path).map_err(io("remove", &path))?;
    }
    Ok(index)
}

/// What the index of the copy says, with the files in `files` under their paths.
fn copy(
    catalog: &Catalog<'_>,
    locked: &LockedPlugin,
    files: &mut BTreeMap<String, Vec<u8>>,
) -> Result<(IndexedPlugin, IndexedVersion), VendorError> {
    let component = catalog.fetch_locked(locked)?;
    let (plugin, resolved) = catalog.entry(locked)?;
    let path = |ending: &str| format!("plugins/{0}/{0}-{1}{ending}", locked.name, locked.version);
    let mut golden = resolved.golden.clone();
    if let (Some(golden), Some(bytes)) = (&mut golden, catalog.fetch_golden(&resolved)?) {
        golden.location = Location::File(path(".golden.json"));
        files.insert(path(".golden.json"), bytes);
    }
    files.insert(path(".wasm"), component);
    let version = IndexedVersion {
        version: locked.version.clone(),
        wit: resolved.wit,
        location: Location::File(path(".wasm")),
        sha256: Some(resolved.pin.sha256),
        size: Some(resolved.pin.size),
        yanked: None,
        golden,
        permissions: resolved.permissions,
        signature: resolved.signature,
    };
    Ok((plugin.clone(), version))
}

/// The key that vouches for a copy, under its identifier; nothing where nobody does and the lock knows it.
fn signing_key(
    catalog: &Catalog<'_>,
    locked: &LockedPlugin,
    version: &IndexedVersion,
    files: &BTreeMap<String, Vec<u8>>,
) -> Result<Option<(String, IndexKey)>, VendorError> {
    let Location::File(path) = &version.location else { unreachable!("a copy is a file") };
    let subject = Subject { name: &locked.name, version: &locked.version, component: &files[path] };
    let (_, resolved) = catalog.entry(locked)?;
    let shelf = catalog.shelf(&resolved.registry).expect("it was found in this catalog");
    let keys = catalog.keys(shelf)?;
    let trust = if locked.voucher == Voucher::Nobody { Trust::AllowUnsigned } else { Trust::SignedOnly };
    let Voucher::Key(id) = verify(subject, version.signature.as_deref(), &keys, trust)? else { return Ok(None) };
    let key = keys.iter().find(|key| key.id() == id).expect("it has just vouched");
    let comment = Some(format!("registry {}", resolved.registry));
    Ok(Some((id, IndexKey { comment, key: key.text().to_owned() })))
}

/// The files of an earlier copy that are no part of this one.
fn stale_files(folder: &Path, files: &BTreeMap<String, Vec<u8>>) -> Result<BTreeSet<PathBuf>, VendorError> {
    if !folder.join(FILE_NAME).exists() {
        return Ok(BTreeSet::new());
    }
    let old = read(folder)?;
    if old.name != NAME {
        return Err(VendorError::OtherRegistry { folder: folder.to_path_buf(), name: old.name });
    }
    let versions = old.plugins.values().flat_map(|plugin| &plugin.versions);
    let locations =
        versions.flat_map(|version| [Some(&version.location), version.golden.as_ref().map(|it| &it.location)]);
    let stale = locations.flatten().filter_map(|location| match location {
        Location::File(path) if !files.contains_key(path) => Some(folder.join(path)),
        _ => None,
    });
    Ok(stale.filter(|path| path.is_file()).collect())
}
