//! Upstream's files, as far as they are on this machine.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;

use netquarry_core::swhid::CoreSwhid;
use netquarry_corpus::corpus::Corpus;
use netquarry_corpus::fetch::{self, FetchOptions};
use netquarry_corpus::snapshot::Snapshot;

/// The sources of a library that are in the cache or in a folder.
#[derive(Default)]
pub struct Upstream {
    snapshots: Vec<Snapshot>,
    /// By source, path and SHA-1: each file is read once.
    known: RefCell<HashMap<[String; 3], Option<CoreSwhid>>>,
}

impl Upstream {
    /// What `cache` has of a corpus. Nothing is fetched, and what is not there is left out.
    pub fn at_hand(corpus: &Corpus, cache: &Path) -> Self {
        let options = FetchOptions { offline: true, ..FetchOptions::new(cache.to_owned()) };
        let snapshots = corpus.sources.iter().filter_map(|spec| fetch::fetch(spec, &options, &()).ok());
        Self { snapshots: snapshots.collect(), known: RefCell::default() }
    }

    /// The identifier of a file, by its source, path and SHA-1; none where that very file is not at hand.
    pub fn swhid(&self, file: [&str; 3]) -> Option<CoreSwhid> {
        *self.known.borrow_mut().entry(file.map(str::to_owned)).or_insert_with(|| self.read(file))
    }

    fn read(&self, [source, path, sha1]: [&str; 3]) -> Option<CoreSwhid> {
        let snapshot = self.snapshots.iter().find(|snapshot| snapshot.source.name == source)?;
        let file = snapshot.files.iter().find(|file| file.path == path && file.digest.to_string() == sha1)?;
        snapshot.read(file).ok().map(|bytes| CoreSwhid::of_content(&bytes))
    }
}
