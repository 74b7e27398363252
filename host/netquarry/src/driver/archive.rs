//! What deduplication computed of codes, kept in the store from run to run.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, RwLock};

use netquarry_core::fingerprint::archive::{Archive, ArchiveKey};
use netquarry_store::{FingerprintsWriter, Store, StoreError, StoredFingerprints};

/// The fingerprints that were in the store, and those that are on their way to it.
pub struct FingerprintArchive {
    path: PathBuf,
    stored: StoredFingerprints,
    /// `None` once [`Self::finish`] has waited for it.
    writer: RwLock<Option<FingerprintsWriter>>,
    /// Why something could not be read, where nobody could be told.
    unread: Mutex<Option<StoreError>>,
}

impl FingerprintArchive {
    pub fn new(store: &Store) -> Result<Arc<Self>, StoreError> {
        let writer = RwLock::new(Some(store.fingerprints_writer()?));
        let (path, stored) = (store.path().to_owned(), store.fingerprints()?);
        Ok(Arc::new(Self { path, stored, writer, unread: Mutex::default() }))
    }

    /// Waits until everything is stored. Nothing is kept from here on.
    ///
    /// # Errors
    /// Something could not be read or stored. All that was computed holds.
    pub fn finish(&self) -> Result<(), StoreError> {
        self.stored.release();
        let writer = self.writer.write().expect("no panic while it is held").take();
        let unread = self.unread.lock().expect("no panic while it is held").take();
        writer.map_or(Ok(()), FingerprintsWriter::finish).and(unread.map_or(Ok(()), Err))
    }
}

impl fmt::Debug for FingerprintArchive {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the fingerprints in {}", self.path.display())
    }
}

impl Archive for FingerprintArchive {
    fn find(&self, ArchiveKey(key): ArchiveKey) -> Option<Vec<u8>> {
        self.stored.find(key).unwrap_or_else(|error| {
            self.unread.lock().expect("no panic while it is held").get_or_insert(error);
            None
        })
    }

    fn keep(&self, ArchiveKey(key): ArchiveKey, bytes: Vec<u8>) {
        if let Some(writer) = &*self.writer.read().expect("no panic while it is held") {
            writer.add(key, &bytes);
        }
    }
}
