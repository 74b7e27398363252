use std::collections::BTreeMap;

use crate::body;
use crate::error::StoreError;
use crate::keyed::{self, Table};
use crate::store::Store;

const STAGE_RESULTS: Table = Table {
    select: "SELECT body FROM stage_results WHERE stage = ?1 AND input = ?2",
    replace: "INSERT OR REPLACE INTO stage_results VALUES (?1, ?2, ?3)",
};

impl Store {
    /// What `stage` made of the input with this digest, as it was stored. The name of a stage carries the version of
    /// its results: `assemble/1`.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn stage_result(&self, stage: &str, input: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.stage_results(stage, [input])?.into_values().next())
    }

    /// As [`Store::stage_result`], for many inputs.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn stage_results<'i>(
        &self,
        stage: &str,
        inputs: impl IntoIterator<Item = &'i str>,
    ) -> Result<BTreeMap<String, Vec<u8>>, StoreError> {
        keyed::get(self, &STAGE_RESULTS, stage, inputs, |body| body::open(body).map(<[u8]>::to_vec))
    }

    /// Stores what `stage` made of the input with this digest.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn put_stage_result(&self, stage: &str, input: &str, result: &[u8]) -> Result<(), StoreError> {
        self.put_stage_results(stage, [(input, result)])
    }

    /// As [`Store::put_stage_result`], for many inputs, all or none.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn put_stage_results<'r>(
        &self,
        stage: &str,
        results: impl IntoIterator<Item = (&'r str, &'r [u8])>,
    ) -> Result<(), StoreError> {
        let bodies = results.into_iter().map(|(input, result)| (input, body::seal(result)));
        keyed::put(self, &STAGE_RESULTS, stage, bodies)
    }

    /// Deletes the results of a stage, all versions of it that start with `prefix`.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn forget_stages(&self, prefix: &str) -> Result<(), StoreError> {
        self.write(|transaction| {
            transaction.execute("DELETE FROM stage_results WHERE substr(stage, 1, length(?1)) = ?1", [prefix]).map(drop)
        })
    }
}
