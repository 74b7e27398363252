//! Facts of files, by the digest of their contents.

use std::collections::HashMap;

use netquarry_core::facts::{FACTS_VERSION, FileFacts};
use netquarry_core::source::ContentDigest;
use rayon::prelude::*;
use rusqlite::{Connection, OptionalExtension};

use crate::body;
use crate::error::StoreError;
use crate::store::Store;
use crate::writer::BatchWriter;

/// How many files one thread reads at a time.
const LOAD_CHUNK: usize = 64;
/// Facts that may wait for the writer, of tens of kilobytes each.
const QUEUE_FILES: usize = 256;

/// What [`Store::facts`] found.
#[derive(Debug, Default)]
pub struct LoadedFacts {
    /// Of the files that are known.
    pub facts: HashMap<ContentDigest, FileFacts>,
    /// Stored, but damaged or of another layout: such files count as unknown and are indexed anew.
    pub undecodable: usize,
}

impl Store {
    /// The facts of those of `digests` that are stored, read and decoded on all threads of the current rayon pool.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn facts(&self, digests: &[ContentDigest]) -> Result<LoadedFacts, StoreError> {
        let chunks: Vec<Vec<(ContentDigest, Option<FileFacts>)>> = digests
            .par_chunks(LOAD_CHUNK)
            .map(|chunk| self.read(|connection| load(connection, chunk)))
            .collect::<Result<_, _>>()?;
        let mut loaded = LoadedFacts { facts: HashMap::with_capacity(digests.len()), undecodable: 0 };
        for (digest, facts) in chunks.into_iter().flatten() {
            match facts {
                Some(facts) => _ = loaded.facts.insert(digest, facts),
                None => loaded.undecodable += 1,
            }
        }
        Ok(loaded)
    }

    /// Starts the thread that stores facts while files are still being indexed.
    ///
    /// # Errors
    /// The system grants no more threads.
    pub fn facts_writer(&self) -> Result<FactsWriter, StoreError> {
        let insert = format!("INSERT OR REPLACE INTO facts VALUES (?1, {FACTS_VERSION}, ?2)");
        Ok(FactsWriter(BatchWriter::start(self, "facts-writer", insert, QUEUE_FILES)?))
    }
}

/// The stored ones of `digests`, `None` for those that do not decode.
fn load(
    connection: &Connection,
    digests: &[ContentDigest],
) -> rusqlite::Result<Vec<(ContentDigest, Option<FileFacts>)>> {
    let mut statement = connection.prepare_cached("SELECT body FROM facts WHERE digest = ?1 AND version = ?2")?;
    let mut loaded = Vec::with_capacity(digests.len());
    for digest in digests {
        let facts =
            statement.query_row((digest.0, FACTS_VERSION), |row| Ok(body::decode(body::column(row)?))).optional()?;
        loaded.extend(facts.map(|facts| (*digest, facts)));
    }
    Ok(loaded)
}

/// Stores facts in the background, in batches. What was added is safe once [`FactsWriter::finish`] has returned; a
/// process that is killed before keeps the batches that were done.
pub struct FactsWriter(BatchWriter);

impl FactsWriter {
    /// Takes the facts of one file, in the place of what is stored for it. Encodes them on the calling thread and waits
    /// where the disk is slower than the callers. After a failure it does nothing: [`FactsWriter::finish`] tells.
    pub fn add(&self, digest: ContentDigest, facts: &FileFacts) {
        self.0.add(digest.0, body::encode(facts));
    }

    /// Waits until everything is stored.
    ///
    /// # Errors
    /// The first failure of a batch. The batches before it are stored, it and what came after it are not.
    pub fn finish(self) -> Result<(), StoreError> {
        self.0.finish()
    }
}
