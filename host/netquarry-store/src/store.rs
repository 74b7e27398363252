//! Opening an index: one connection that writes and a pool of those that read.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use crate::error::StoreError;
use crate::schema::{self, Layout};

/// How long a write waits for another process.
pub const BUSY_TIMEOUT: Duration = Duration::from_secs(60);

/// How long the log waits for those who read.
const READERS_TIMEOUT: Duration = Duration::from_secs(1);

/// An open index. Clones share its connections; all methods may be called from any thread.
#[derive(Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

struct Shared {
    path: PathBuf,
    busy_timeout: Duration,
    /// The one connection of this process that writes.
    writer: Mutex<Connection>,
    /// Connections for reading that nobody uses just now: at most as many as there were readers at once.
    readers: Mutex<Vec<Connection>>,
    /// Those with an open transaction that no thread uses just now.
    snapshots: Mutex<Vec<Snapshot>>,
    /// Snapshots of earlier ones have ended.
    generation: AtomicU64,
}

/// A connection with an open transaction.
struct Snapshot {
    connection: Connection,
    generation: u64,
}

impl Store {
    /// Opens the index at `path`, and makes it and its folder if they are not there.
    ///
    /// # Errors
    /// The folder or the file cannot be used, or the file is damaged, of a newer NetQuarry or of another program. The
    /// file is left as it was.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::open_waiting(path, BUSY_TIMEOUT)
    }

    /// As [`Store::open`], with another limit on waiting for other processes.
    ///
    /// # Errors
    /// As for [`Store::open`].
    pub fn open_waiting(path: &Path, busy_timeout: Duration) -> Result<Self, StoreError> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|source| StoreError::Folder { path: folder.to_owned(), source })?;
        }
        let failed = |source| StoreError::new(path, source);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut writer = Connection::open_with_flags(path, flags).map_err(failed)?;
        schema::configure(&writer, busy_timeout).map_err(failed)?;
        match schema::prepare(&mut writer, busy_timeout).map_err(failed)? {
            Layout::Current => {}
            Layout::Newer(found) => {
                return Err(StoreError::NewerVersion { path: path.to_owned(), found, known: schema::VERSION });
            }
            Layout::Foreign => return Err(StoreError::NotAnIndex { path: path.to_owned() }),
        }
        let shared = Shared {
            path: path.to_owned(),
            busy_timeout,
            writer: Mutex::new(writer),
            readers: Mutex::default(),
            snapshots: Mutex::default(),
            generation: AtomicU64::new(0),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Deletes the index at `path` and opens an empty one. No other process may be using it.
    ///
    /// # Errors
    /// As for [`Store::open`]. A database of another program is not deleted, nor one that another process is writing to.
    pub fn rebuild(path: &Path) -> Result<Self, StoreError> {
        Self::rebuild_waiting(path, BUSY_TIMEOUT)
    }

    /// As [`Store::rebuild`], with another limit on waiting for other processes.
    ///
    /// # Errors
    /// As for [`Store::rebuild`].
    pub fn rebuild_waiting(path: &Path, busy_timeout: Duration) -> Result<Self, StoreError> {
        // A write that changes nothing shows whether another process holds the lock; opening alone needs none.
        let opened = Self::open_waiting(path, busy_timeout).and_then(|store| store.write(|_| Ok(())));
        if let Err(error @ (StoreError::NotAnIndex { .. } | StoreError::Locked { .. })) = opened {
            return Err(error);
        }
        for suffix in ["", "-wal", "-shm", "-journal"] {
            let mut name = path.as_os_str().to_owned();
            name.push(suffix);
            match fs::remove_file(&name) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(StoreError::CannotRemove { path: name.into(), source: error });
                }
                _ => {}
            }
        }
        Self::open_waiting(path, busy_timeout)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.shared.path
    }

    /// Runs a query on a connection that no other thread uses.
    pub(crate) fn read<T>(&self, query: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        let pooled = self.shared.readers.lock().expect("no panic while the list is held").pop();
        let connection = match pooled {
            Some(connection) => connection,
            None => self.open_reader().map_err(|source| self.failed(source))?,
        };
        let answer = query(&connection).map_err(|source| self.failed(source));
        self.shared.readers.lock().expect("no panic while the list is held").push(connection);
        answer
    }

    /// Runs a query that may see the store as it was at an earlier one, and no earlier than when snapshots were ended last.
    pub(crate) fn read_snapshot<T>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let Shared { snapshots, generation, .. } = &*self.shared;
        let now = generation.load(Ordering::SeqCst);
        let free = snapshots.lock().expect("no panic while it is held").pop();
        let snapshot = match free.filter(|snapshot| snapshot.generation == now) {
            Some(snapshot) => snapshot,
            None => {
                let begun = |connection: Connection| connection.execute_batch("BEGIN").map(|()| connection);
                let connection = self.open_reader().and_then(begun).map_err(|source| self.failed(source))?;
                Snapshot { connection, generation: now }
            }
        };
        let answer = query(&snapshot.connection).map_err(|source| self.failed(source));
        // Whoever waited for the list would hold the log meanwhile. Under the lock, so that whoever ends snapshots finds it.
        if let Ok(mut free) = snapshots.try_lock()
            && generation.load(Ordering::SeqCst) == now
        {
            free.push(snapshot);
        }
        answer
    }

    /// Ends all snapshots: those that are in use when their queries are done.
    pub(crate) fn end_snapshots(&self) {
        self.shared.generation.fetch_add(1, Ordering::SeqCst);
        self.shared.snapshots.lock().expect("no panic while it is held").clear();
    }

    fn open_reader(&self) -> rusqlite::Result<Connection> {
        // Not read-only to the file system: a reader of a write-ahead log takes part in its shared memory.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.shared.path, flags)?;
        schema::configure(&connection, self.shared.busy_timeout)?;
        connection.pragma_update(None, "query_only", true)?;
        Ok(connection)
    }

    /// Runs `change` in one transaction that holds the write lock from its start: it sees nothing half done, and
    /// nothing of it stays if it fails or the process dies.
    pub(crate) fn write<T>(
        &self,
        change: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let mut writer = self.shared.writer.lock().expect("no panic while writing");
        let run = || {
            let transaction = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let result = change(&transaction)?;
            transaction.commit()?;
            Ok(result)
        };
        run().map_err(|source| self.failed(source))
    }

    /// Ends all snapshots, moves what was written to the file, and has the log begin anew. Where another process reads for
    /// long it goes on, for the next time.
    pub(crate) fn empty_log(&self) -> Result<(), StoreError> {
        let writer = self.shared.writer.lock().expect("no panic while writing");
        // Snapshots that begin before all is in the file need the log, and those that begin after it do not.
        let step = |mode| {
            self.end_snapshots();
            writer.pragma(None, "wal_checkpoint", mode, |_| Ok(()))
        };
        let run = || {
            writer.busy_timeout(READERS_TIMEOUT)?;
            let emptied = step("FULL").and_then(|()| step("RESTART"));
            writer.busy_timeout(self.shared.busy_timeout)?;
            emptied
        };
        run().map_err(|source| self.failed(source))
    }

    pub(crate) fn failed(&self, source: rusqlite::Error) -> StoreError {
        StoreError::new(&self.shared.path, source)
    }
}

#[cfg(test)]
mod tests {
    use netquarry_core::verdict::Verdict;

    use super::*;
    use crate::verdicts::VerdictContext;

    #[test]
    fn a_full_disk_is_named_and_what_was_stored_stays() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("index.sqlite");
        let store = Store::open(&path).expect("opened");
        let context = VerdictContext { environment: "environment", options: "options" };
        store.put_verdicts(context, [("first", &verdict(100_000))]).expect("stored");
        let limited: i64 = {
            let writer = store.shared.writer.lock().expect("no panic while writing");
            let pages: i64 = writer.pragma_query_value(None, "page_count", |row| row.get(0)).expect("a count");
            writer.pragma_update_and_check(None, "max_page_count", pages + 4, |row| row.get(0)).expect("limited")
        };
        assert!(limited > 4);

        let verdicts: Vec<_> = (0..100).map(|number| (number.to_string(), verdict(10_000))).collect();
        let verdicts = verdicts.iter().map(|(bundle, verdict)| (bundle.as_str(), verdict));
        let error = store.put_verdicts(context, verdicts).expect_err("full");
        assert!(matches!(error, StoreError::DiskFull { .. }), "{error:?}");
        assert!(error.to_string().contains(&path.display().to_string()), "{error}");
        assert!(error.hint().contains("free some space"), "{}", error.hint());

        let left = store.verdicts(context, ["first", "0"]).expect("readable");
        assert_eq!(left.into_iter().collect::<Vec<_>>(), [("first".to_owned(), verdict(100_000))]);
        // The writer can go on: a value that is no longer than the old one needs no page.
        store.put_verdicts(context, [("first", &verdict(1))]).expect("stored");
    }

    /// A verdict that takes so many bytes and some more.
    fn verdict(bytes: usize) -> Verdict {
        Verdict { protections: vec!["x".repeat(bytes)], ..Verdict::default() }
    }
}
