//! Folders and archives of this machine, read as they are.

use std::fs;
use std::path::{Path, PathBuf};

use ignore::{DirEntry, WalkBuilder};
use netquarry_core::source::{ContentDigest, SourceKind};

use crate::cache::{self, Cache};
use crate::entry::{Description, StoredLayout};
use crate::failure::FetchFailure;
use crate::fetch::{Demand, FetchOptions};
use crate::inventory::{Budget, Entry, Inventory, Limits, Place, Refusal, Role, role_of};
use crate::paths;
use crate::progress::Reporter;
use crate::pypi::{self, http::digest, release::archive_of};
use crate::snapshot::Integrity;
use crate::unpack::Unpacker;

/// What counts of a folder: hidden things, what its `.gitignore` files name, links and virtual environments do not.
pub(crate) fn read_folder(folder: &Path, limits: &Limits, reporter: Reporter<'_>) -> Result<Inventory, FetchFailure> {
    let mut walk = Walk { folder, budget: Budget::new(*limits), inventory: Inventory::default(), reporter };
    // Only what lies in the folder decides what counts, so that a copy elsewhere gives the same snapshot.
    let entries = WalkBuilder::new(folder)
        .parents(false)
        .git_global(false)
        .git_exclude(false)
        .ignore(false)
        .require_git(false)
        .filter_entry(|entry| !is_virtual_environment(entry))
        .sort_by_file_name(Ord::cmp)
        .build();
    for entry in entries {
        match entry {
            Ok(entry) => walk.take(&entry)?,
            Err(error) => walk.inventory.skip(folder.display().to_string(), error.to_string()),
        }
    }
    reporter.taken_all(walk.budget.files());
    Ok(walk.inventory)
}

fn is_virtual_environment(entry: &DirEntry) -> bool {
    entry.depth() > 0 && entry.path().join("pyvenv.cfg").is_file()
}

struct Walk<'walk> {
    folder: &'walk Path,
    budget: Budget,
    inventory: Inventory,
    reporter: Reporter<'walk>,
}

impl Walk<'_> {
    fn take(&mut self, entry: &DirEntry) -> Result<(), FetchFailure> {
        self.budget.see().or_else(|refusal| self.refuse(entry.path().display().to_string(), refusal))?;
        let Some(kind) = entry.file_type().filter(|kind| !kind.is_dir()) else { return Ok(()) };
        let relative = entry.path().strip_prefix(self.folder).expect("the walk stays in the folder");
        // Forward slashes on every system; a name that is not text is odd and passed over.
        let segments: Vec<_> = relative.iter().map(|segment| segment.to_string_lossy()).collect();
        let name = segments.join("/");
        let Some(role) = role_of(&name) else { return Ok(()) };
        match paths::checked(&name) {
            Ok(path) if kind.is_file() => self.take_file(entry.path(), path, role),
            Ok(path) => {
                self.inventory.skip(path, "it is no regular file");
                Ok(())
            }
            Err(why) => {
                self.inventory.skip(name, why.to_string());
                Ok(())
            }
        }
    }

    fn take_file(&mut self, file: &Path, path: String, role: Role) -> Result<(), FetchFailure> {
        let size = match fs::metadata(file) {
            Ok(metadata) => metadata.len(),
            Err(error) => {
                self.inventory.skip(path, error.to_string());
                return Ok(());
            }
        };
        if let Err(refusal) = self.budget.take(role, size) {
            return self.refuse(path, refusal);
        }
        match fs::read(file) {
            Ok(content) => {
                let (digest, bytes) = (ContentDigest::of(&content), content.len() as u64);
                self.inventory.entries.push(Entry { path, role, digest, bytes, place: Place::Folder });
                self.reporter.taken(self.budget.files());
            }
            Err(error) => self.inventory.skip(path, error.to_string()),
        }
        Ok(())
    }

    fn refuse(&mut self, path: String, refusal: Refusal) -> Result<(), FetchFailure> {
        match refusal {
            Refusal::File(why) => {
                self.inventory.skip(path, why);
                Ok(())
            }
            Refusal::Source { limit, what } => {
                Err(FetchFailure::TooLarge { archive: self.folder.display().to_string(), limit, what })
            }
        }
    }
}

/// The cache entry of a wheel or sdist of this machine, found by its digest.
pub(crate) fn unpack_archive(
    path: &Path,
    cache: &Cache,
    options: &FetchOptions,
    reporter: Reporter<'_>,
) -> Result<(PathBuf, Description), FetchFailure> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
    let Some(archive) = archive_of(name) else { return Err(FetchFailure::NoSuchPath { path: path.to_path_buf() }) };
    let open = || fs::File::open(path).map_err(FetchFailure::io("read", path));
    let digest = digest(open()?).map_err(FetchFailure::io("read", path))?;
    let entry_name = cache::file_name(&format!("{name} {digest}"));
    let entry = cache.entry("archives", &entry_name);
    let shown = path.display().to_string();
    let make = || {
        let partial = cache.partial()?;
        let mut unpacker = Unpacker::new(&shown, partial.path(), options.limits, reporter)?;
        pypi::unpack(archive, open()?, &mut unpacker)?;
        let (inventory, packed_bytes) = unpacker.finish()?;
        let description = Description {
            kind: SourceKind::Local,
            version: None,
            commit: None,
            url: None,
            integrity: Integrity::Local,
            layout: StoredLayout::of(archive),
            packed_bytes,
            inventory,
            fetched: None,
        };
        description.write(partial.path())?;
        cache.publish(partial, &entry)?;
        Ok(description)
    };
    let find = || Description::of_entry(&entry);
    let description = cache.find_or_make(Demand::IfMissing, &entry_name, reporter, find, make)?;
    // The same archive may lie in several places.
    Ok((entry, Description { url: Some(shown), ..description }))
}
