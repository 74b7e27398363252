//! The tests of this crate that use files, a server or the network.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod archives;
mod corpora;
mod folders;
mod git;
mod index;
mod public_index;
mod server;
mod sharing;
mod unsafe_archives;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use netquarry_corpus::corpus::{ArchivePreference, FetchPolicy, LocalLocation, Location, PypiLocation, SourceSpec};
use netquarry_corpus::fetch::FetchOptions;
use netquarry_corpus::progress::{FetchEvent, FetchProgress};
use netquarry_corpus::pypi::configuration::IndexConfiguration;
use netquarry_corpus::scope::Scope;
use netquarry_corpus::snapshot::Snapshot;

/// A source with nothing but a name and a place.
fn source(name: &str, location: Location) -> SourceSpec {
    SourceSpec {
        name: name.to_owned(),
        description: String::new(),
        priority: 1,
        location,
        fetch: FetchPolicy::Missing,
        import_roots: None,
        scope: Scope::default(),
    }
}

fn local(path: &Path) -> SourceSpec {
    source(
        "local",
        Location::Local(LocalLocation { path: path.to_path_buf(), folder: PathBuf::new(), distribution: None }),
    )
}

fn pypi(project: &str, version: Option<&str>) -> SourceSpec {
    let version = version.map(str::to_owned);
    source(
        project,
        Location::Pypi(PypiLocation { project: project.to_owned(), version, prefer: ArchivePreference::Wheel }),
    )
}

/// Options that ask only the index at `url`, and do not wait long.
fn options(cache: &Path, url: &str) -> FetchOptions {
    let mut options = FetchOptions::new(cache);
    options.index = Some(IndexConfiguration::single(url.parse().unwrap()));
    options.back_off = Duration::from_millis(1);
    options
}

fn paths(snapshot: &Snapshot) -> Vec<&str> {
    snapshot.files.iter().map(|file| file.path.as_str()).collect()
}

fn modules(snapshot: &Snapshot) -> Vec<&str> {
    snapshot.files.iter().filter_map(|file| file.module.as_deref()).collect()
}

/// Keeps the names of what happened.
#[derive(Default)]
struct Recorder(Mutex<Vec<&'static str>>);

impl FetchProgress for Recorder {
    fn on_event(&self, _source_name: &str, event: FetchEvent<'_>) {
        self.0.lock().unwrap().push(match event {
            FetchEvent::Waiting => "waiting",
            FetchEvent::Asking { .. } => "asking",
            FetchEvent::Retrying { .. } => "retrying",
            FetchEvent::Received { .. } => "received",
            FetchEvent::Unpacked { .. } => "unpacked",
        });
    }
}

impl Recorder {
    fn count(&self, name: &str) -> usize {
        self.0.lock().unwrap().iter().filter(|event| **event == name).count()
    }
}
