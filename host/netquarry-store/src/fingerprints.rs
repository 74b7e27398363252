//! What deduplication computed of codes, by the digests of what it was computed of.

use netquarry_core::fingerprint::archive::FINGERPRINT_VERSION;
use rusqlite::{Connection, OptionalExtension};

use crate::body;
use crate::error::StoreError;
use crate::store::Store;
use crate::writer::BatchWriter;

/// Fingerprints that may wait for the writer, of some kilobytes each.
const QUEUE: usize = 512;

/// The fingerprints that are stored. Queries share snapshots: a connection forgets the pages that it has read whenever another
/// one writes between its transactions. So what is stored meanwhile may not be seen.
pub struct StoredFingerprints {
    store: Store,
    /// Nothing was stored at the start.
    is_empty: bool,
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
        self.store.read_snapshot(|connection| find(connection, key))
    }

    /// Ends all snapshots.
    pub fn release(&self) {
        self.store.end_snapshots();
    }
}

fn find(connection: &Connection, key: [u8; 20]) -> rusqlite::Result<Option<Vec<u8>>> {
    let mut statement = connection.prepare_cached("SELECT body FROM fingerprints WHERE key = ?1")?;
    let found = statement.query_row([key], |row| Ok(body::open(body::column(row)?).map(<[u8]>::to_vec))).optional()?;
    Ok(found.flatten())
}

impl Store {
    /// The fingerprints that are stored.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn fingerprints(&self) -> Result<StoredFingerprints, StoreError> {
        self.end_snapshots();
        let exists = "SELECT EXISTS (SELECT 1 FROM fingerprints)";
        let is_empty = !self.read(|connection| connection.query_row(exists, [], |row| row.get::<_, bool>(0)))?;
        Ok(StoredFingerprints { store: self.clone(), is_empty })
    }

    /// Starts the thread that stores fingerprints while others are still computed. Those of other versions, which nothing finds
    /// any more, go.
    ///
    /// # Errors
    /// The store cannot be written, or the system grants no more threads.
    pub fn fingerprints_writer(&self) -> Result<FingerprintsWriter, StoreError> {
        let remove = "DELETE FROM fingerprints WHERE version <> ?1";
        let has_others = "SELECT EXISTS (SELECT 1 FROM fingerprints WHERE version <> ?1)";
        if self
            .read(|connection| connection.query_row(has_others, [FINGERPRINT_VERSION], |row| row.get::<_, bool>(0)))?
        {
            self.write(|transaction| transaction.execute(remove, [FINGERPRINT_VERSION]))?;
        }
        let insert = format!("INSERT OR REPLACE INTO fingerprints VALUES (?1, {FINGERPRINT_VERSION}, ?2)");
        Ok(FingerprintsWriter(BatchWriter::start(self, "fingerprints-writer", insert, QUEUE)?))
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
    /// The first failure. The batches before it are stored, what came after it is not.
    pub fn finish(self) -> Result<(), StoreError> {
        self.0.finish()
    }
}
