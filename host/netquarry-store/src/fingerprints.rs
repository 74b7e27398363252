use std::collections::BTreeMap;

use crate::body;
use crate::error::StoreError;
use crate::keyed::{self, Table};
use crate::store::Store;

const FINGERPRINTS: Table = Table {
    select: "SELECT body FROM fingerprints WHERE kernel = ?1 AND content = ?2",
    replace: "INSERT OR REPLACE INTO fingerprints VALUES (?1, ?2, ?3)",
};

impl Store {
    /// The fingerprints that `kernel` made of contents, by the contents' digests. The name of a kernel carries its
    /// parameters and version: `minhash-256/1`.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn fingerprints<'c>(
        &self,
        kernel: &str,
        contents: impl IntoIterator<Item = &'c str>,
    ) -> Result<BTreeMap<String, Vec<u8>>, StoreError> {
        keyed::get(self, &FINGERPRINTS, kernel, contents, |body| body::open(body).map(<[u8]>::to_vec))
    }

    /// Stores fingerprints by the digest of their contents, all or none.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn put_fingerprints<'f>(
        &self,
        kernel: &str,
        fingerprints: impl IntoIterator<Item = (&'f str, &'f [u8])>,
    ) -> Result<(), StoreError> {
        let bodies = fingerprints.into_iter().map(|(content, fingerprint)| (content, body::seal(fingerprint)));
        keyed::put(self, &FINGERPRINTS, kernel, bodies)
    }
}
