//! What can be wrong with the file, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use rusqlite::ffi;

/// What went wrong with the store, and which file it is. [`StoreError::hint`] says what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("the index `{}` is damaged", path.display())]
    Corrupted { path: PathBuf, source: rusqlite::Error },
    #[error("`{}` is not an index of NetQuarry", path.display())]
    NotAnIndex { path: PathBuf },
    #[error("the index `{}` was made by a newer NetQuarry (layout {found}; this one knows up to {known})", path.display())]
    NewerVersion { path: PathBuf, found: i64, known: i64 },
    #[error("another process keeps the index `{}` locked", path.display())]
    Locked { path: PathBuf, source: rusqlite::Error },
    #[error("the disk is full: the index `{}` cannot grow", path.display())]
    DiskFull { path: PathBuf, source: rusqlite::Error },
    #[error("the index `{}` cannot be written", path.display())]
    ReadOnly { path: PathBuf, source: rusqlite::Error },
    #[error("the index `{}` cannot be opened", path.display())]
    CannotOpen { path: PathBuf, source: rusqlite::Error },
    #[error("the folder of the index, `{}`, cannot be used", path.display())]
    Folder { path: PathBuf, source: io::Error },
    #[error("the old index `{}` cannot be removed", path.display())]
    CannotRemove { path: PathBuf, source: io::Error },
    #[error("no thread can be started that writes the index")]
    NoThread { source: io::Error },
    #[error("the index `{}` failed", path.display())]
    Sqlite { path: PathBuf, source: rusqlite::Error },
}

impl StoreError {
    pub(crate) fn new(path: &Path, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        let Some(error) = source.sqlite_error() else {
            return Self::Sqlite { path, source };
        };
        match (error.code, error.extended_code) {
            (ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt, _) => Self::Corrupted { path, source },
            (ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed, _) => {
                Self::Locked { path, source }
            }
            // The shared-memory file of the write-ahead log is grown without a check for space of its own.
            (ErrorCode::DiskFull, _) | (_, ffi::SQLITE_IOERR_SHMSIZE) => Self::DiskFull { path, source },
            (ErrorCode::ReadOnly | ErrorCode::PermissionDenied, _) => Self::ReadOnly { path, source },
            (ErrorCode::CannotOpen, _) => Self::CannotOpen { path, source },
            // A file that was cut short, or a disk that gives nothing back.
            (_, ffi::SQLITE_IOERR_SHORT_READ | ffi::SQLITE_IOERR_CORRUPTFS) => Self::Corrupted { path, source },
            _ => Self::Sqlite { path, source },
        }
    }

    /// What the user can do.
    pub fn hint(&self) -> String {
        match self {
            Self::Corrupted { path, .. } => format!(
                "`--rebuild-index` makes it anew, as does deleting `{}`; the verdicts in it are lost, so blocks are validated again",
                path.display()
            ),
            Self::NotAnIndex { .. } => {
                "it is a database of another program and stays as it is: choose another folder with --cache-dir".to_owned()
            }
            Self::NewerVersion { .. } => {
                "update NetQuarry, use another index with --cache-dir, or make this one anew with `--rebuild-index`".to_owned()
            }
            Self::Locked { .. } => {
                "wait until the other NetQuarry is done, or end it; if none is running, the file system may not support \
                 locks: keep the index on a local disk with --cache-dir"
                    .to_owned()
            }
            Self::DiskFull { path, .. } => format!(
                "free some space on the disk of `{}`, or keep the index elsewhere with --cache-dir; what was stored before is kept",
                path.display()
            ),
            Self::ReadOnly { path, .. } | Self::CannotOpen { path, .. } => format!(
                "SQLite writes beside the file too: make `{}` and its folder writable, or keep the index elsewhere with --cache-dir",
                path.display()
            ),
            Self::CannotRemove { path, .. } => format!("delete `{}` yourself: nothing in it is lost for good", path.display()),
            Self::NoThread { .. } => "let fewer programs run at once, or raise the limit on processes (`ulimit -u`)".to_owned(),
            Self::Folder { .. } => "create the folder, make it writable, or keep the index elsewhere with --cache-dir".to_owned(),
            Self::Sqlite { .. } => {
                "if it stays, make the index anew with `--rebuild-index`: nothing in it is lost for good".to_owned()
            }
        }
    }
}
