//! Git repositories: shallow, bare, and read from the object database without a work tree.
//!
//! Each URL has one bare repository in the cache. It gathers the commits that were fetched, each without its history, and a
//! description per commit, which is made once.

mod objects;
mod remote;
mod transfer;

use std::path::PathBuf;

use gix::ObjectId;
use netquarry_core::source::SourceKind;
use reqwest::Url;
use serde::{Deserialize, Serialize};

use crate::cache::{self, Cache};
use crate::corpus::GitLocation;
use crate::entry::{self, Description, StoredLayout};
use crate::failure::FetchFailure;
use crate::fetch::{Demand, FetchOptions};
use crate::progress::{FetchEvent, Reporter};
use crate::pypi::http::without_credentials;
use crate::snapshot::Integrity;

pub(crate) use objects::ObjectDatabase;
use remote::Revision;

/// The commit that a revision stood for when the remote was last asked.
#[derive(Debug, Serialize, Deserialize)]
struct Answer {
    commit: String,
}

/// Where everything about one URL lies.
struct Repository {
    folder: PathBuf,
    /// Without credentials.
    url: String,
}

impl Repository {
    fn objects(&self) -> PathBuf {
        self.folder.join("repository.git")
    }

    fn description(&self, commit: &str) -> PathBuf {
        self.folder.join("commits").join(format!("{commit}.json"))
    }

    /// A commit that was fetched and described before; `None` also where a part of that is torn.
    fn known(&self, commit: &str) -> Option<(ObjectDatabase, Description)> {
        let path = self.description(commit);
        let description: Description = cache::read_json(&path)?;
        let id = ObjectId::from_hex(commit.as_bytes()).ok()?;
        let objects = ObjectDatabase::open(&self.objects(), path).ok().filter(|objects| objects.has(id))?;
        Some((objects, description))
    }
}

/// The object database that holds the commit, and its description.
pub(crate) fn fetch(
    location: &GitLocation,
    demand: Demand,
    cache: &Cache,
    options: &FetchOptions,
    reporter: Reporter<'_>,
) -> Result<(ObjectDatabase, Description), FetchFailure> {
    let name = cache::file_name(&format!("git {}", location.url));
    let url = Url::parse(&location.url).map_or_else(|_| location.url.clone(), |url| without_credentials(&url));
    let repository = Repository { folder: cache.entry("git", &name), url };
    let revision = Revision::of(location.revision.as_deref());
    let request = cache::file_name(&format!("git {} {revision}", location.url));
    let find = || match revision.commit() {
        Some(commit) => repository.known(&commit.to_string()),
        None => repository.known(&cache.answer::<Answer>(&request)?.commit),
    };
    let ask_and_describe = || {
        let commit = ask(location, &repository, &revision, options, reporter)?;
        let found = match repository.known(&commit.to_string()) {
            Some(found) => found,
            None => describe(&repository, commit, options, reporter)?,
        };
        cache.remember(&request, &Answer { commit: commit.to_string() })?;
        Ok(found)
    };
    let make = || match ask_and_describe() {
        Err(FetchFailure::ObjectDatabase { why, .. }) => {
            tracing::warn!("{} is damaged and made anew: {why}", repository.folder.display());
            let objects = repository.objects();
            std::fs::remove_dir_all(&objects).map_err(FetchFailure::io("remove the torn repository", &objects))?;
            ask_and_describe()
        }
        decided => decided,
    };
    // A commit is what it is: nothing that the remote could say would change it.
    let demand = match demand {
        Demand::Ask if revision.commit().is_some() => Demand::IfMissing,
        demand => demand,
    };
    cache.find_or_make(demand, &name, reporter, find, make)
}

/// The commit that the remote has for the revision, its objects in the bare repository. The caller holds the lock.
fn ask(
    location: &GitLocation,
    repository: &Repository,
    revision: &Revision,
    options: &FetchOptions,
    reporter: Reporter<'_>,
) -> Result<ObjectId, FetchFailure> {
    reporter.tell(FetchEvent::Asking { url: &repository.url });
    let bare = remote::open_or_make(&repository.objects(), &repository.url)?;
    let remote = remote::RemoteRepository {
        url: &location.url,
        shown: &repository.url,
        certificates: remote::certificates(&location.url, options)?,
    };
    let is_known = |commit: ObjectId| repository.known(&commit.to_string()).is_some();
    match remote.fetch_commit(&bare, revision, &is_known, reporter) {
        Err(failure) if failure.is_transient() => {
            reporter.tell(FetchEvent::Retrying { why: &failure.to_string() });
            std::thread::sleep(options.back_off);
            remote.fetch_commit(&bare, revision, &is_known, reporter)
        }
        decided => decided,
    }
}

/// Reads the tree of the commit once and for all.
fn describe(
    repository: &Repository,
    commit: ObjectId,
    options: &FetchOptions,
    reporter: Reporter<'_>,
) -> Result<(ObjectDatabase, Description), FetchFailure> {
    let description_path = repository.description(&commit.to_string());
    let failure = |why: String| FetchFailure::ObjectDatabase {
        url: repository.url.clone(),
        path: repository.folder.clone(),
        why,
    };
    let objects = ObjectDatabase::open(&repository.objects(), description_path.clone()).map_err(failure)?;
    let description = Description {
        kind: SourceKind::Git,
        version: None,
        commit: Some(commit.to_string()),
        url: Some(repository.url.clone()),
        integrity: Integrity::ObjectNames,
        layout: StoredLayout::Repository,
        packed_bytes: 0,
        inventory: objects.inventory(commit, &repository.url, &repository.folder, options.limits, reporter)?,
        fetched: entry::now(),
    };
    cache::write_json(&description_path, &description)?;
    Ok((objects, description))
}
