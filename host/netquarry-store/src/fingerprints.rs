//! What deduplication computed of codes, by the digests of what it was computed of.

use std::sync::Mutex;

use rusqlite::{Connection, OptionalExtension};

use crate::body;
use crate::error::StoreError;
use crate::store::Store;
use crate::writer::BatchWriter;

/// The fingerprints that were stored at some moment. Each thread that reads has a transaction open as long as this lives:
/// what others write meanwhile takes nothing away that was read once, and is not seen.
pub struct StoredFingerprints {
    store: Store,
    is_empty: bool,
    /// Those that no thread uses just now.
    snapshots: Mutex<Vec<Connection>>,
}

impl StoredFingerprints {
    /// What is stored under the key; `None` too where it is damaged.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn find(&self, key: [u8; 20]) -> Result<Option<Vec<u8>>, StoreError> {
        if self.is_empty {
            return Ok(None);
        }
        let free = self.snapshots.lock().expect("no panic while it is held").pop();
        let connection = match free {
            Some(connection) => connection,
            None => self.store.open_snapshot()?,
        };
        let found = find(&connection, key).map_err(|source| self.store.failed(source));
        self.snapshots.lock().expect("no panic while it is held").push(connection);
        found
    }
}

fn find(connection: &Connection, key: [u8; 20]) -> rusqlite::Result<Option<Vec<u8>>> {
    let mut statement = connection.prepare_cached("SELECT body FROM fingerprints WHERE key = ?1")?;
    let found = statement.query_row([key], |row| Ok(body::open(body::column(row)?).map(<[u8]>::to_vec))).optional()?;
    Ok(found.flatten())
}

impl Store {
    /// The fingerprints that are stored now.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn fingerprints(&self) -> Result<StoredFingerprints, StoreError> {
        let exists = "SELECT EXISTS (SELECT 1 FROM fingerprints)";
        let is_empty = !self.read(|connection| connection.query_row(exists, [], |row| row.get::<_, bool>(0)))?;
        Ok(StoredFingerprints { store: self.clone(), is_empty, snapshots: Mutex::default() })
    }

    /// Starts the thread that stores fingerprints while others are still computed.
    ///
    /// # Errors
    /// The system grants no more threads.
    pub fn fingerprints_writer(&self) -> Result<FingerprintsWriter, StoreError> {
        let insert = "INSERT OR REPLACE INTO fingerprints VALUES (?1, ?2)".to_owned();
        Ok(FingerprintsWriter(BatchWriter::start(self, "fingerprints-writer", insert)?))
    }
}

/// Stores fingerprints in the background, in batches. What was added is safe once [`FingerprintsWriter::finish`] has
/// returned; a process that is killed before keeps the batches that were done.
pub struct FingerprintsWriter(BatchWriter);

impl FingerprintsWriter {
    /// Takes one fingerprint, in the place of what is stored under its key. Waits where the disk is slower than the callers.
    /// After a failure it does nothing: [`FingerprintsWriter::finish`] tells.
    pub fn add(&self, key: [u8; 20], fingerprint: &[u8]) {
        self.0.add(key, body::seal(fingerprint));
    }

    /// Waits until everything is stored.
    ///
    /// # Errors
    /// The first failure of a batch. The batches before it are stored, it and what came after it are not.
    pub fn finish(self) -> Result<(), StoreError> {
        self.0.finish()
    }
}
