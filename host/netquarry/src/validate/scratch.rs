//! The folder that one process may write to.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A folder that is removed with the value, whatever a process has left in it.
#[derive(Debug)]
pub(super) struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// A new one below `folder`, which only this user can read.
    pub(super) fn new(folder: &Path) -> io::Result<Self> {
        let path = tempfile::Builder::new().prefix("scratch-").tempdir_in(folder)?.keep();
        Ok(Self { path })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(error) = remove(&self.path) {
            tracing::warn!(folder = %self.path.display(), %error, "could not remove what a process has written");
        }
    }
}

/// Removes a folder and all that is in it, in bounded memory and with few open files.
///
/// A process can dig folders so deep that a walk down to their end runs out of descriptors or of stack, and so that no
/// path to them is allowed; so every folder within another is moved up first. It can also close them to their owner.
fn remove(folder: &Path) -> io::Result<()> {
    let parent = folder.parent().expect("it lies in the folder that it was made in");
    let pile = TempDir::new_in(parent)?;
    let mut piled = 0;
    let mut empty = |folder: &Path| {
        open_up(folder)?;
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            // Not of what a link leads to.
            if entry.file_type()?.is_dir() {
                // Moving a folder changes what it says is above it.
                open_up(&entry.path())?;
                fs::rename(entry.path(), pile.path().join(piled.to_string()))?;
                piled += 1;
            } else {
                fs::remove_file(entry.path())?;
            }
        }
        fs::remove_dir(folder)?;
        Ok::<u64, io::Error>(piled)
    };
    let mut folders = empty(folder)?;
    let mut next = 0;
    while next < folders {
        folders = empty(&pile.path().join(next.to_string()))?;
        next += 1;
    }
    pile.close()
}

fn open_up(folder: &Path) -> io::Result<()> {
    fs::set_permissions(folder, Permissions::from_mode(0o700))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn nothing_is_left_whatever_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let kept = folder.path().join("kept");
        fs::write(&kept, "kept").unwrap();
        let scratch = Scratch::new(folder.path()).unwrap();
        fs::write(scratch.path().join("0"), "a name as the pile has them").unwrap();
        symlink(folder.path(), scratch.path().join("link")).unwrap();
        fs::create_dir_all(scratch.path().join("wide/a/b")).unwrap();
        fs::create_dir(scratch.path().join("wide/c")).unwrap();
        fs::write(scratch.path().join("wide/c/file"), "").unwrap();
        fs::set_permissions(scratch.path().join("wide/c"), Permissions::from_mode(0o000)).unwrap();
        dig(scratch.path(), 5000);
        drop(scratch);
        let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(left, [kept]);
    }

    /// No path is long enough, so that the deepest folders are put under others bit by bit.
    fn dig(folder: &Path, depth: usize) {
        const AT_ONCE: usize = 500;
        let hole = folder.join("hole");
        for _ in 0..depth / AT_ONCE {
            let upper = folder.join("upper");
            let bottom = upper.join("d/".repeat(AT_ONCE));
            fs::create_dir_all(&bottom).unwrap();
            if hole.exists() {
                fs::rename(&hole, bottom.join("hole")).unwrap();
            }
            fs::rename(upper, &hole).unwrap();
        }
    }
}
