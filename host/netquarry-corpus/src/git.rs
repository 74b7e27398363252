//! Git repositories: shallow, bare, and read from the object database without a work tree.
//!
//! Each URL has one bare repository in the cache. It gathers the commits that were fetched, each without its history, and a
//! description per commit, which is made once.

mod objects;
mod remote;

use std::path::{Path, PathBuf};

use gix::ObjectId;
use netquarry_core::source::SourceKind;
use reqwest::Url;
use serde::{Deserialize, Serialize};

use crate::cache::{self, Cache};
use crate::corpus::GitLocation;
use crate::entry::{Description, StoredLayout};
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
    let request = cache::file_name(&format!("git {} {revision:?}", location.url));
    let cached = || {
        let commit = match revision.commit() {
            Some(commit) => commit.to_string(),
            None => cache.answer::<Answer>(&request)?.commit,
        };
        repository.known(&commit)
    };
    // A commit is what it is: nothing that the remote could say would change it.
    if (demand != Demand::Ask || revision.commit().is_some())
        && let Some(found) = cached()
    {
        return Ok(found);
    }
    if let Demand::CacheOnly(why) = demand {
        return Err(FetchFailure::NotCached { cache: cache.folder().to_path_buf(), why });
    }
    let _lock = cache.lock(&name, reporter)?;
    // Another process may have fetched it while this one waited.
    if demand == Demand::IfMissing
        && let Some(found) = cached()
    {
        return Ok(found);
    }
    reporter.tell(FetchEvent::Asking { url: &repository.url });
    let path = repository.objects();
    let bare = remote::open_or_make(&path)?;
    let is_known = |commit: ObjectId| repository.known(&commit.to_string()).is_some();
    let certificates = remote::certificates(options)?;
    let commit = attempt(options, reporter, || {
        remote::fetch_commit(&bare, &location.url, &repository.url, &revision, &certificates, &is_known)
    })?;
    let found = match repository.known(&commit.to_string()) {
        Some(found) => found,
        None => describe(&repository, &path, commit, options, reporter)?,
    };
    cache.remember(&request, &Answer { commit: commit.to_string() })?;
    Ok(found)
}

/// Twice where the failure may pass.
fn attempt<T>(
    options: &FetchOptions,
    reporter: Reporter<'_>,
    attempt: impl Fn() -> Result<T, remote::RemoteFailure>,
) -> Result<T, FetchFailure> {
    match attempt() {
        Err(failure) if failure.may_pass => {
            reporter.tell(FetchEvent::Retrying { why: &failure.failure.to_string() });
            std::thread::sleep(options.back_off);
            attempt().map_err(|failure| failure.failure)
        }
        decided => decided.map_err(|failure| failure.failure),
    }
}

fn describe(
    repository: &Repository,
    path: &Path,
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
    let objects = ObjectDatabase::open(path, description_path.clone()).map_err(failure)?;
    let description = Description {
        kind: SourceKind::Git,
        version: None,
        commit: Some(commit.to_string()),
        url: Some(repository.url.clone()),
        integrity: Integrity::ObjectNames,
        layout: StoredLayout::Repository,
        packed_bytes: 0,
        inventory: objects.inventory(commit, &repository.url, &repository.folder, options.limits, reporter)?,
    };
    cache::write_json(&description_path, &description)?;
    Ok((objects, description))
}
