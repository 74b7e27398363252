use std::collections::BTreeMap;

use netquarry_core::verdict::Verdict;

use crate::body;
use crate::error::StoreError;
use crate::keyed::{self, Table};
use crate::store::Store;

const VERDICTS: Table = Table {
    select: "SELECT body FROM verdicts WHERE context = ?1 AND bundle = ?2",
    replace: "INSERT OR REPLACE INTO verdicts VALUES (?1, ?2, ?3)",
};

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
        keyed::get(self, &VERDICTS, &context.key(), bundles, body::decode_json)
    }

    /// Stores verdicts by the SHA-256 of their bundles, all or none.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn put_verdicts<'b>(
        &self,
        context: VerdictContext<'_>,
        verdicts: impl IntoIterator<Item = (&'b str, &'b Verdict)>,
    ) -> Result<(), StoreError> {
        let bodies = verdicts.into_iter().map(|(bundle, verdict)| (bundle, body::encode_json(verdict)));
        keyed::put(self, &VERDICTS, &context.key(), bodies)
    }
}
