//! Rows that are stored in the background, in batches.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use crate::error::StoreError;
use crate::store::Store;

/// A transaction of the writer ends after so many bytes or rows, so that another process gets its turn.
const BATCH_BYTES: usize = 8 << 20;
const BATCH_ROWS: usize = 2048;
/// After so many bytes the log is begun anew: SQLite does so by itself only where nobody reads.
const LOG_BYTES: usize = 16 << 20;

/// Stores rows of one table. What was added is safe once [`Self::finish`] has returned; a process that is killed before
/// keeps the batches that were done.
pub(crate) struct BatchWriter {
    /// `None` once no more rows come.
    sender: Option<SyncSender<Row>>,
    thread: Option<JoinHandle<Result<(), StoreError>>>,
}

struct Row {
    key: [u8; 20],
    body: Vec<u8>,
}

impl BatchWriter {
    /// Starts the thread, which bears `name`. `insert` is a statement that takes the key and the sealed body. So many rows may
    /// wait; then those who make them wait.
    ///
    /// # Errors
    /// The system grants no more threads.
    pub(crate) fn start(store: &Store, name: &str, insert: String, waiting: usize) -> Result<Self, StoreError> {
        let (sender, receiver) = sync_channel(waiting);
        let store = store.clone();
        let thread = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || write_batches(&store, &insert, &receiver))
            .map_err(|source| StoreError::NoThread { source })?;
        Ok(Self { sender: Some(sender), thread: Some(thread) })
    }

    /// Waits where the disk is slower than the callers. After a failure it does nothing: [`Self::finish`] tells.
    pub(crate) fn add(&self, key: [u8; 20], body: Vec<u8>) {
        // The receiver is gone only where the writer has failed.
        _ = self.sender.as_ref().expect("taken by `finish` alone").send(Row { key, body });
    }

    /// Waits until everything is stored.
    ///
    /// # Errors
    /// The first failure. The batches before it are stored, what came after it is not.
    pub(crate) fn finish(mut self) -> Result<(), StoreError> {
        self.close().expect("closed by `finish` and `drop` alone")
    }

    fn close(&mut self) -> Option<Result<(), StoreError>> {
        self.sender = None;
        self.thread.take().map(|thread| thread.join().expect("the writer does not panic"))
    }
}

impl Drop for BatchWriter {
    /// A run that ends early keeps what was made so far.
    fn drop(&mut self) {
        self.close();
    }
}

fn write_batches(store: &Store, insert: &str, receiver: &Receiver<Row>) -> Result<(), StoreError> {
    let mut logged = 0;
    while let Ok(first) = receiver.recv() {
        let mut bytes = first.body.len();
        let mut batch = vec![first];
        while bytes < BATCH_BYTES
            && batch.len() < BATCH_ROWS
            && let Ok(next) = receiver.try_recv()
        {
            bytes += next.body.len();
            batch.push(next);
        }
        store.write(|transaction| {
            let mut statement = transaction.prepare_cached(insert)?;
            batch.iter().try_for_each(|Row { key, body }| statement.execute((key, body)).map(|_| ()))
        })?;
        logged += bytes;
        if logged >= LOG_BYTES {
            store.empty_log()?;
            logged = 0;
        }
    }
    Ok(())
}
