//! The folder that keeps what was fetched. Several processes may use it at once.
//!
//! Invariants: an entry appears by one rename and never changes afterwards; whoever makes or replaces one holds its lock;
//! whatever is half-made lies under `partial`, where nobody looks for entries.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::Serialize;
use serde::de::DeserializeOwned;
use tempfile::TempDir;

use crate::failure::FetchFailure;
use crate::fetch::Demand;
use crate::progress::{FetchEvent, Reporter};

/// Changes when the layout of the cache does; another layout lives beside it.
const LAYOUT: &str = "sources-1";

/// What a killed process left behind is removed after this long.
const ABANDONED_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Clone, Debug)]
pub(crate) struct Cache {
    root: PathBuf,
}

/// Held while an entry is made; released when dropped, also by the end of the process.
#[derive(Debug)]
struct EntryLock {
    _file: File,
}

impl Cache {
    pub(crate) fn open(folder: &Path) -> Result<Self, FetchFailure> {
        let root = folder.join(LAYOUT);
        for part in ["entries", "locks", "partial", "requests"] {
            let part = root.join(part);
            fs::create_dir_all(&part).map_err(FetchFailure::io("make the cache folder", &part))?;
        }
        let cache = Self { root };
        cache.remove_abandoned();
        Ok(cache)
    }

    /// The place of an entry. `name` is made by [`file_name`] or of safe parts.
    pub(crate) fn entry(&self, kind: &str, name: &str) -> PathBuf {
        self.root.join("entries").join(kind).join(name)
    }

    /// What the cache has, or what `make` gets where `demand` lets it. Of several processes that want the same one makes it and
    /// the others find it: `lock_name` names what they would both make.
    pub(crate) fn find_or_make<T>(
        &self,
        demand: Demand,
        lock_name: &str,
        reporter: Reporter<'_>,
        find: impl Fn() -> Option<T>,
        make: impl FnOnce() -> Result<T, FetchFailure>,
    ) -> Result<T, FetchFailure> {
        let found = if demand == Demand::Ask { None } else { find() };
        if let Some(found) = found {
            return Ok(found);
        }
        if let Demand::CacheOnly(why) = demand {
            return Err(FetchFailure::NotCached { cache: self.root.clone(), why });
        }
        let _lock = self.lock(lock_name, reporter)?;
        // Another process may have made it while this one waited.
        let found = if demand == Demand::IfMissing { find() } else { None };
        found.map_or_else(make, Ok)
    }

    fn lock(&self, name: &str, reporter: Reporter<'_>) -> Result<EntryLock, FetchFailure> {
        let path = self.root.join("locks").join(format!("{name}.lock"));
        let file = File::options().create(true).truncate(false).write(true).open(&path);
        let file = file.map_err(FetchFailure::io("open the lock", &path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                reporter.tell(FetchEvent::Waiting);
                file.lock().map_err(FetchFailure::io("take the lock", &path))?;
            }
            Err(TryLockError::Error(error)) => return Err(FetchFailure::io("take the lock", &path)(error)),
        }
        Ok(EntryLock { _file: file })
    }

    /// A folder to make an entry in; removed when dropped, unless it was published.
    pub(crate) fn partial(&self) -> Result<TempDir, FetchFailure> {
        let folder = self.root.join("partial");
        TempDir::new_in(&folder).map_err(FetchFailure::io("make a folder in", &folder))
    }

    /// Makes `partial` the entry, in the place of a torn one if there is one. The caller holds the lock.
    pub(crate) fn publish(&self, partial: TempDir, entry: &Path) -> Result<(), FetchFailure> {
        let parent = entry.parent().expect("an entry lies in the cache");
        fs::create_dir_all(parent).map_err(FetchFailure::io("make the cache folder", parent))?;
        if entry.exists() {
            let torn = self.partial()?;
            fs::rename(entry, torn.path().join("torn")).map_err(FetchFailure::io("put aside the torn entry", entry))?;
        }
        fs::rename(partial.path(), entry).map_err(FetchFailure::io("put in place", entry))?;
        // The folder has moved: there is nothing left for the guard to remove.
        let _ = partial.keep();
        Ok(())
    }

    /// Which entry answered a request last time.
    pub(crate) fn answer<T: DeserializeOwned>(&self, request: &str) -> Option<T> {
        read_json(&self.root.join("requests").join(format!("{request}.json")))
    }

    pub(crate) fn remember<T: Serialize>(&self, request: &str, answer: &T) -> Result<(), FetchFailure> {
        write_json(&self.root.join("requests").join(format!("{request}.json")), answer)
    }

    fn remove_abandoned(&self) {
        let Ok(entries) = fs::read_dir(self.root.join("partial")) else { return };
        for entry in entries.flatten() {
            let modified = entry.metadata().and_then(|metadata| metadata.modified());
            let age = modified.ok().and_then(|modified| SystemTime::now().duration_since(modified).ok());
            if age.is_some_and(|age| age > ABANDONED_AFTER)
                && let Err(error) = fs::remove_dir_all(entry.path())
            {
                tracing::debug!("cannot remove the abandoned {}: {error}", entry.path().display());
            }
        }
    }
}

/// `text` as a name for a file: other characters than letters, digits, `.`, `-` and `_` replaced, short, and told apart from
/// similar ones by a digest.
pub(crate) fn file_name(text: &str) -> String {
    let digest = netquarry_core::source::ContentDigest::of(text.as_bytes()).to_string();
    let safe = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    let readable: String = text.chars().map(|letter| if safe(letter) { letter } else { '-' }).collect();
    let readable = readable.trim_matches(['-', '.']);
    format!("{}-{}", &readable[..readable.len().min(80)], &digest[..12])
}

/// `None` where there is nothing, or nothing that makes sense: a torn file is a missing file.
pub(crate) fn read_json<T: DeserializeOwned>(path: &Path) -> Option<T> {
    let text = fs::read(path).ok()?;
    match serde_json::from_slice(&text) {
        Ok(value) => Some(value),
        Err(error) => {
            tracing::debug!("{} is torn: {error}", path.display());
            None
        }
    }
}

/// Written beside and renamed, so that readers see the old or the new and nothing between.
pub(crate) fn write_json<T: Serialize>(path: &Path, value: &T) -> Result<(), FetchFailure> {
    let folder = path.parent().expect("a file lies in a folder");
    let write = || -> io::Result<()> {
        fs::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        serde_json::to_writer(io::BufWriter::new(file.as_file_mut()), value)?;
        file.as_file().sync_all()?;
        file.persist(path)?;
        Ok(())
    };
    write().map_err(FetchFailure::io("write", path))
}
