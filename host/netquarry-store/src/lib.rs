//! What NetQuarry keeps between runs, in one SQLite file.
//!
//! Everything in the store is derived and may be made anew: facts of files, verdicts on bundles and fingerprints of codes,
//! each under the digest of what it was made from. So the store never answers wrongly about changed input, and losing it
//! costs time only.
//!
//! Two processes may use one store at once. Readers never wait; each process writes through one connection, in short
//! transactions that take the write lock first (`BEGIN IMMEDIATE`), and waits for the other's up to [`BUSY_TIMEOUT`].
//! A process that is killed leaves whole transactions behind. Every stored value carries a checksum: one that was
//! damaged on disk, or does not decode, counts as not stored.

mod body;
mod error;
mod facts;
mod fingerprints;
mod schema;
mod store;
mod verdicts;
mod writer;

pub use error::StoreError;
pub use facts::{FactsWriter, LoadedFacts};
pub use fingerprints::{FingerprintsWriter, StoredFingerprints};
pub use store::{BUSY_TIMEOUT, Store};
pub use verdicts::VerdictContext;
