//! The tables, and how a file comes to have them.

use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, TransactionBehavior};

/// `NQry`: tells an index from other SQLite files, so that a wrong path on the command line changes nothing.
pub(crate) const APPLICATION_ID: i64 = 0x4e51_7279;

/// The layout after `n` migrations has `user_version` `n`. Published migrations never change.
const MIGRATIONS: &[&str] = &[
    "
    CREATE TABLE facts (
        digest BLOB NOT NULL PRIMARY KEY,
        version INTEGER NOT NULL,
        body BLOB NOT NULL
    );
    CREATE TABLE verdicts (
        context TEXT NOT NULL,
        bundle TEXT NOT NULL,
        body BLOB NOT NULL,
        PRIMARY KEY (context, bundle)
    );
",
    "
    CREATE TABLE fingerprints (
        key BLOB NOT NULL PRIMARY KEY,
        version INTEGER NOT NULL,
        body BLOB NOT NULL
    );
",
];

/// The newest layout that this program knows.
pub(crate) const VERSION: i64 = MIGRATIONS.len() as i64;

/// What a database file turned out to be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// An index of the newest layout.
    Current,
    /// An index of a layout that this program does not know yet.
    Newer(i64),
    /// A database of some other program.
    Foreign,
}

/// Settings that belong to the connection and not to the file.
pub(crate) fn configure(connection: &Connection, busy_timeout: Duration) -> rusqlite::Result<()> {
    connection.busy_timeout(busy_timeout)?;
    connection.set_prepared_statement_cache_capacity(32);
    // With a write-ahead log NORMAL may lose the last transactions when the power fails, never the integrity.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "journal_size_limit", 64 << 20)
}

/// Brings the file to the newest layout, whichever process comes first. A file that is not an empty one or an older
/// index stays as it is.
pub(crate) fn prepare(connection: &mut Connection, busy_timeout: Duration) -> rusqlite::Result<Layout> {
    let layout = layout(connection)?;
    if !matches!(layout, Layout::Current) || version(connection)? == VERSION {
        return Ok(layout);
    }
    if version(connection)? == 0 {
        // Facts take tens of kilobytes each; large pages keep them together. Holds for a file that is still empty.
        connection.pragma_update(None, "page_size", 16384)?;
    }
    enter_wal_mode(connection, busy_timeout)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have migrated while this one waited for the lock.
    let reached = usize::try_from(version(&transaction)?).expect("checked by `layout`");
    for migration in MIGRATIONS.get(reached..).unwrap_or(&[]) {
        transaction.execute_batch(migration)?;
    }
    if reached < MIGRATIONS.len() {
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", VERSION)?;
    }
    transaction.commit()?;
    self::layout(connection)
}

fn layout(connection: &Connection) -> rusqlite::Result<Layout> {
    // One snapshot for all three: another process may be giving a new file its layout at this moment.
    let snapshot = connection.unchecked_transaction()?;
    let tables: i64 = snapshot.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let version = version(&snapshot)?;
    let application: i64 = snapshot.pragma_query_value(None, "application_id", |row| row.get(0))?;
    snapshot.finish()?;
    let untouched = tables == 0 && version == 0 && application == 0;
    Ok(match version {
        _ if application != APPLICATION_ID && !untouched => Layout::Foreign,
        version if version < 0 => Layout::Foreign,
        version if version > VERSION => Layout::Newer(version),
        _ => Layout::Current,
    })
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// SQLite does not call the busy handler while it changes the journal mode, so this waits by itself.
fn enter_wal_mode(connection: &Connection, busy_timeout: Duration) -> rusqlite::Result<()> {
    let deadline = Instant::now() + busy_timeout;
    loop {
        match connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0)) {
            // A file system without shared memory keeps another mode: slower, and just as safe.
            Ok(_mode) => return Ok(()),
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(error) => return Err(error),
        }
    }
}
