//! Upstream's files, as far as they are on this machine.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;

use netquarry_core::record::RecordSource;
use netquarry_core::swhid::CoreSwhid;
use netquarry_corpus::corpus::Corpus;
use netquarry_corpus::fetch::{self, FetchOptions};
use netquarry_corpus::snapshot::Snapshot;

/// The sources of a library that are in the cache or in a folder.
#[derive(Default)]
pub struct Upstream {
    snapshots: Vec<Snapshot>,
    /// By source and path: each file is read once.
    known: RefCell<HashMap<(String, String, String), Option<String>>>,
}

impl Upstream {
    /// What `cache` has of a corpus. Nothing is fetched, and what is not there is left out.
    pub fn at_hand(corpus: &Corpus, cache: &Path) -> Self {
        let options = FetchOptions { offline: true, ..FetchOptions::new(cache.to_owned()) };
        let snapshots = corpus.sources.iter().filter_map(|spec| fetch::fetch(spec, &options, &()).ok());
        Self { snapshots: snapshots.collect(), known: RefCell::default() }
    }

    /// How many sources there are.
    pub fn sources(&self) -> usize {
        self.snapshots.len()
    }

    /// The identifier of the file that a record is of; none where that very file is not at hand.
    pub fn swhid(&self, source: &RecordSource) -> Option<String> {
        let key = (source.name.clone(), source.path.clone(), source.sha1.clone());
        self.known.borrow_mut().entry(key).or_insert_with(|| self.read(source)).clone()
    }

    fn read(&self, source: &RecordSource) -> Option<String> {
        let snapshot = self.snapshots.iter().find(|snapshot| snapshot.source.name == source.name)?;
        let file =
            snapshot.files.iter().find(|file| file.path == source.path && file.digest.to_string() == source.sha1)?;
        snapshot.read(file).ok().map(|bytes| CoreSwhid::of_content(&bytes).to_string())
    }
}
