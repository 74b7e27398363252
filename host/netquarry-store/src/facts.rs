//! Facts of files, by the digest of their contents.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use netquarry_core::facts::{FACTS_VERSION, FileFacts};
use netquarry_core::source::ContentDigest;
use rayon::prelude::*;
use rusqlite::{Connection, OptionalExtension};

use crate::body;
use crate::error::StoreError;
use crate::store::Store;

/// How many files one thread reads at a time.
const LOAD_CHUNK: usize = 64;
/// A transaction of the writer ends after so many bytes or files, so that another process gets its turn.
const BATCH_BYTES: usize = 8 << 20;
const BATCH_FILES: usize = 512;
/// Encoded facts that may wait for the writer; then those who make them wait.
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
        let (sender, receiver) = sync_channel(QUEUE_FILES);
        let store = self.clone();
        let thread = std::thread::Builder::new()
            .name("facts-writer".to_owned())
            .spawn(move || write_batches(&store, &receiver))
            .map_err(|source| StoreError::NoThread { source })?;
        Ok(FactsWriter { sender: Some(sender), thread: Some(thread) })
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
pub struct FactsWriter {
    /// `None` once no more facts come.
    sender: Option<SyncSender<EncodedFacts>>,
    thread: Option<JoinHandle<Result<(), StoreError>>>,
}

struct EncodedFacts {
    digest: ContentDigest,
    body: Vec<u8>,
}

impl FactsWriter {
    /// Takes the facts of one file, in the place of what is stored for it. Encodes them on the calling thread and waits
    /// where the disk is slower than the callers. After a failure it does nothing: [`FactsWriter::finish`] tells.
    pub fn add(&self, digest: ContentDigest, facts: &FileFacts) {
        let encoded = EncodedFacts { digest, body: body::encode(facts) };
        // The receiver is gone only where the writer has failed.
        _ = self.sender.as_ref().expect("taken by `finish` alone").send(encoded);
    }

    /// Waits until everything is stored.
    ///
    /// # Errors
    /// The first failure of a batch. The batches before it are stored, it and what came after it are not.
    pub fn finish(mut self) -> Result<(), StoreError> {
        self.close().expect("closed by `finish` and `drop` alone")
    }

    fn close(&mut self) -> Option<Result<(), StoreError>> {
        self.sender = None;
        self.thread.take().map(|thread| thread.join().expect("the writer does not panic"))
    }
}

impl Drop for FactsWriter {
    /// A run that ends early keeps what was indexed so far.
    fn drop(&mut self) {
        self.close();
    }
}

fn write_batches(store: &Store, receiver: &Receiver<EncodedFacts>) -> Result<(), StoreError> {
    while let Ok(first) = receiver.recv() {
        let mut bytes = first.body.len();
        let mut batch = vec![first];
        while bytes < BATCH_BYTES
            && batch.len() < BATCH_FILES
            && let Ok(next) = receiver.try_recv()
        {
            bytes += next.body.len();
            batch.push(next);
        }
        write_batch(store, &batch)?;
    }
    Ok(())
}

fn write_batch(store: &Store, batch: &[EncodedFacts]) -> Result<(), StoreError> {
    store.write(|transaction| {
        let mut statement = transaction.prepare_cached("INSERT OR REPLACE INTO facts VALUES (?1, ?2, ?3)")?;
        for EncodedFacts { digest, body } in batch {
            statement.execute((digest.0, FACTS_VERSION, body))?;
        }
        Ok(())
    })
}
