//! Verdicts, by bundle and by what they were reached under.

use std::collections::BTreeMap;

use netquarry_core::verdict::Verdict;
use rusqlite::OptionalExtension;

use crate::body;
use crate::error::StoreError;
use crate::store::Store;

/// Under what a verdict was reached. A verdict holds for the same bundle, environment and options only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerdictContext<'a> {
    /// The digest of the Python environment.
    pub environment: &'a str,
    /// The digest of everything else that a verdict depends on: levels, limits, the worker's own version.
    pub options: &'a str,
}

impl VerdictContext<'_> {
    fn key(self) -> String {
        format!("{} {}", self.environment, self.options)
    }
}

impl Store {
    /// The verdicts of those `bundles` (hexadecimal SHA-256) that were validated in this context.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn verdicts<'b>(
        &self,
        context: VerdictContext<'_>,
        bundles: impl IntoIterator<Item = &'b str>,
    ) -> Result<BTreeMap<String, Verdict>, StoreError> {
        let context = context.key();
        self.read(|connection| {
            let select = "SELECT body FROM verdicts WHERE context = ?1 AND bundle = ?2";
            let mut statement = connection.prepare_cached(select)?;
            let mut found = BTreeMap::new();
            for bundle in bundles {
                let row = statement.query_row((&context, bundle), |row| Ok(body::decode_json(body::column(row)?)));
                if let Some(verdict) = row.optional()?.flatten() {
                    found.insert(bundle.to_owned(), verdict);
                }
            }
            Ok(found)
        })
    }

    /// Stores verdicts by the SHA-256 of their bundles, all or none, in the place of what was there.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn put_verdicts<'b>(
        &self,
        context: VerdictContext<'_>,
        verdicts: impl IntoIterator<Item = (&'b str, &'b Verdict)>,
    ) -> Result<(), StoreError> {
        let context = context.key();
        self.write(|transaction| {
            let replace = "INSERT OR REPLACE INTO verdicts VALUES (?1, ?2, ?3)";
            let mut statement = transaction.prepare_cached(replace)?;
            for (bundle, verdict) in verdicts {
                statement.execute((&context, bundle, body::encode_json(verdict)))?;
            }
            Ok(())
        })
    }
}
