//! Values under a name and a digest: the shape that verdicts, stage results and fingerprints share.

use std::collections::BTreeMap;

use rusqlite::Connection;

use crate::body;
use crate::error::StoreError;
use crate::store::Store;

/// The statements of one table of `(space, key, body)`.
pub(crate) struct Table {
    /// `SELECT body` for `?1` the space and `?2` the key.
    pub(crate) select: &'static str,
    /// `INSERT OR REPLACE` of `?1` the space, `?2` the key and `?3` the body.
    pub(crate) replace: &'static str,
}

/// The values of those `keys` that are stored and that `decode` accepts.
pub(crate) fn get<'k, T>(
    store: &Store,
    table: &Table,
    space: &str,
    keys: impl IntoIterator<Item = &'k str>,
    decode: impl Fn(&[u8]) -> Option<T>,
) -> Result<BTreeMap<String, T>, StoreError> {
    store.read(|connection| {
        let mut found = BTreeMap::new();
        for key in keys {
            if let Some(value) = select(connection, table, space, key, &decode)? {
                found.insert(key.to_owned(), value);
            }
        }
        Ok(found)
    })
}

fn select<T>(
    connection: &Connection,
    table: &Table,
    space: &str,
    key: &str,
    decode: impl Fn(&[u8]) -> Option<T>,
) -> rusqlite::Result<Option<T>> {
    let mut statement = connection.prepare_cached(table.select)?;
    let mut rows = statement.query((space, key))?;
    let Some(row) = rows.next()? else { return Ok(None) };
    Ok(decode(body::column(row)?))
}

/// Stores all values in one transaction, in the place of what was there.
pub(crate) fn put<'k>(
    store: &Store,
    table: &Table,
    space: &str,
    values: impl IntoIterator<Item = (&'k str, Vec<u8>)>,
) -> Result<(), StoreError> {
    store.write(|transaction| {
        let mut statement = transaction.prepare_cached(table.replace)?;
        for (key, body) in values {
            statement.execute((space, key, body))?;
        }
        Ok(())
    })
}
