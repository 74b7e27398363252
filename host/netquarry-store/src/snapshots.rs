use netquarry_core::source::{Source, SourceFile};
use rusqlite::OptionalExtension;
use serde::{Deserialize, Serialize};

use crate::body;
use crate::error::StoreError;
use crate::store::Store;

/// The files of one source, as a run saw them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredSnapshot {
    pub source: Source,
    pub files: Vec<SourceFile>,
}

impl Store {
    /// What is stored under `identity`, the text by which fetching tells one state of a source from another.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn snapshot(&self, identity: &str) -> Result<Option<StoredSnapshot>, StoreError> {
        self.read(|connection| {
            let snapshot = connection
                .prepare_cached("SELECT body FROM snapshots WHERE identity = ?1")?
                .query_row([identity], |row| Ok(body::decode_json(body::column(row)?)))
                .optional()?;
            Ok(snapshot.flatten())
        })
    }

    /// Stores `snapshot` in the place of what stood under `identity`.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn put_snapshot(&self, identity: &str, snapshot: &StoredSnapshot) -> Result<(), StoreError> {
        let body = body::encode_json(snapshot);
        self.write(|transaction| {
            transaction.execute("INSERT OR REPLACE INTO snapshots VALUES (?1, ?2)", (identity, body)).map(drop)
        })
    }
}
