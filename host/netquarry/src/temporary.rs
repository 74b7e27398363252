//! Folders of the system's temporary folder for as long as a command works.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

/// Those that are there.
static FOLDERS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn folders() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    FOLDERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A folder that only this user can read. It goes with the value, or with the program where that ends in between.
#[derive(Debug)]
pub struct TemporaryFolder(TempDir);

impl TemporaryFolder {
    /// Makes one, in whose name stands what it is for.
    pub fn new(purpose: &str) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix(&format!("netquarry-{purpose}-")).tempdir()?;
        folders().insert(folder.path().to_owned());
        Ok(Self(folder))
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        folders().remove(self.path());
    }
}

/// Removes all of them, before the program ends without dropping anything. What cannot be removed stays: processes that
/// write there are given a moment to notice that they end.
pub fn remove_all() {
    const TRIES: usize = 10;
    for folder in &*folders() {
        for _ in 0..TRIES {
            if fs::remove_dir_all(folder).is_ok() {
                break;
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_goes_with_its_value_and_is_known_until_then() {
        let folder = TemporaryFolder::new("test").unwrap();
        let path = folder.path().to_owned();
        assert!(path.is_dir() && folders().contains(&path));
        drop(folder);
        assert!(!path.exists() && !folders().contains(&path));
    }
}
