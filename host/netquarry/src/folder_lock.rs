//! Locks of folders, which keep two processes of this program from changing one at the same time.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::library::folder::hexadecimal;
use crate::problem::Problem;

/// The lock of a folder, held until it is dropped, also by the end of the process. It is a file in the cache, so that nothing
/// of it stands in the folder.
#[derive(Debug)]
pub struct FolderLock {
    _file: File,
}

/// What of a folder is locked.
#[derive(Clone, Copy, Debug)]
pub enum Locked {
    /// The library in it.
    Library,
    /// The configuration and the lock of plugins in it.
    Project,
}

impl FolderLock {
    /// Nothing where another process has it. `locks` is the folder of all locks.
    ///
    /// # Errors
    /// If there is no finding the folder, or no making the file.
    pub fn try_take(folder: &Path, what: Locked, locks: &Path) -> Result<Option<Self>, Problem> {
        let (file, path) = open(folder, what, locks)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(Problem::io("lock", &path, error)),
        }
    }
}

fn open(folder: &Path, what: Locked, locks: &Path) -> Result<(File, PathBuf), Problem> {
    fs::create_dir_all(locks).map_err(|error| Problem::io("make the cache folder", locks, error))?;
    let whole = whole(folder).map_err(|error| Problem::io("find the folder", folder, error))?;
    let digest = hexadecimal(&Sha256::digest(whole.as_os_str().as_encoded_bytes())[..8]);
    let kind = match what {
        Locked::Library => "out",
        Locked::Project => "project",
    };
    let path = locks.join(format!("{kind}-{digest}.lock"));
    let file = File::create(&path).map_err(|error| Problem::io("open the lock", &path, error))?;
    Ok((file, path))
}

/// The one path of a folder, be it there or not. A link to what is not there is no folder, and none can be made of it.
fn whole(path: &Path) -> io::Result<PathBuf> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    match (fs::canonicalize(path), path.parent(), path.file_name()) {
        (Err(error), Some(parent), Some(name)) if error.kind() == io::ErrorKind::NotFound => {
            // Without a slash at its end, which would ask for what it leads to.
            if parent.join(name).is_symlink() {
                return Err(io::Error::new(
                    error.kind(),
                    format!("`{}` is a link to nothing", parent.join(name).display()),
                ));
            }
            Ok(whole(parent)?.join(name))
        }
        (canonical, ..) => canonical,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_one_lock_by_whatever_path() {
        let here = fs::canonicalize(".").unwrap();
        for path in ["", ".", "./", "../"] {
            let expected = if path == "../" { here.parent().unwrap() } else { &here };
            assert_eq!(whole(Path::new(path)).unwrap(), expected, "`{path}`");
        }
        assert_eq!(whole(Path::new("not/there")).unwrap(), here.join("not/there"));
        let locks = tempfile::tempdir().unwrap();
        let take = |path: &str, what| FolderLock::try_take(Path::new(path), what, locks.path()).unwrap();
        let _held = take("", Locked::Project).expect("nobody has it");
        assert!(take("./", Locked::Project).is_none());
        assert!(take(".", Locked::Library).is_some(), "what is locked is another thing");
    }
}
