//! Distributions of a package index: which file to take, and its way into the cache. No build backend ever runs.

pub mod configuration;
pub(crate) mod http;
pub(crate) mod page;
pub(crate) mod ranges;
pub(crate) mod release;

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use netquarry_core::source::SourceKind;
use serde::{Deserialize, Serialize};

use crate::cache::{self, Cache};
use crate::corpus::PypiLocation;
use crate::entry::{self, Description, StoredLayout};
use crate::failure::FetchFailure;
use crate::fetch::{Demand, FetchOptions};
use crate::inventory::Limits;
use crate::progress::{FetchEvent, Reporter};
use crate::snapshot::Integrity;
use crate::unpack::{Unpacker, sdist, wheel};

use configuration::IndexConfiguration;
use http::Client;
use page::{IndexFile, ProjectPage};
use release::{Archive, Release};

/// Archives above this size are read in parts, where the server lets us: of a wheel with compiled libraries only a few per
/// cent are code.
const WHOLE_UP_TO: u64 = 48 << 20;

/// Where the entry that answered a request lies, below `entries/pypi`.
#[derive(Debug, Serialize, Deserialize)]
struct Answer {
    entry: String,
}

/// The cache entry that holds the distribution, and its description.
pub(crate) fn fetch(
    location: &PypiLocation,
    demand: Demand,
    cache: &Cache,
    options: &FetchOptions,
    reporter: Reporter<'_>,
) -> Result<(PathBuf, Description), FetchFailure> {
    let request = request_name(location);
    let find = || {
        let answer: Answer = cache.answer(&request)?;
        let entry = cache.entry("pypi", &answer.entry);
        Description::of_entry(&entry).map(|description| (entry, description))
    };
    let make = || {
        let (name, description) = ask(location, demand, cache, options, reporter)?;
        let entry = cache.entry("pypi", &name);
        cache.remember(&request, &Answer { entry: name })?;
        Ok((entry, description))
    };
    let project = cache::file_name(&release::normalised(&location.project));
    cache.find_or_make(demand, &project, reporter, find, make)
}

/// Asks the index, and gets the file unless the cache has it already. The caller holds the lock of the project.
fn ask(
    location: &PypiLocation,
    demand: Demand,
    cache: &Cache,
    options: &FetchOptions,
    reporter: Reporter<'_>,
) -> Result<(String, Description), FetchFailure> {
    let configuration = match &options.index {
        Some(configuration) => configuration.clone(),
        None => IndexConfiguration::of_pip(&|name| std::env::var(name).ok())?,
    };
    let client = Client::new(&configuration, options.back_off, reporter)?;
    let (page, mut release) = find_release(location, &configuration, &client)?;
    release.file.state_digest()?;
    let name = entry_name(location, &release);
    let entry = cache.entry("pypi", &name);
    // Without a digest nobody can say whether the file is still the same.
    let same = release.file.sha256.is_some() || demand != Demand::Ask;
    if let Some(description) = Description::of_entry(&entry).filter(|_| same) {
        return Ok((name, description));
    }
    let partial = cache.partial()?;
    let description = transfer(&page, &release, &client, partial.path(), options)?;
    description.write(partial.path())?;
    cache.publish(partial, &entry)?;
    Ok((name, description))
}

fn request_name(location: &PypiLocation) -> String {
    let project = release::normalised(&location.project);
    let version = location.version.as_deref().unwrap_or("newest");
    cache::file_name(&format!("pypi {project} {version} {:?}", location.prefer))
}

/// Unique per content: the digest where the index states one, else the place that the file comes from.
fn entry_name(location: &PypiLocation, release: &Release) -> String {
    let project = release::normalised(&location.project);
    let file = &release.file;
    let content = file.sha256.as_deref().unwrap_or(file.url.as_str());
    format!("{project}/{}", cache::file_name(&format!("{} {content}", file.name)))
}

/// The first place that has the version wins: later ones never shadow it.
fn find_release(
    location: &PypiLocation,
    configuration: &IndexConfiguration,
    client: &Client<'_>,
) -> Result<(ProjectPage, Release), FetchFailure> {
    let mut failures = Vec::new();
    for page in page::project_pages(&location.project, configuration, client) {
        match page.and_then(|page| release::choose(location, &page).map(|release| (page, release))) {
            Ok(found) => return Ok(found),
            Err(failure @ (FetchFailure::NoSuchProject { .. } | FetchFailure::NoSuchVersion { .. })) => {
                failures.push(failure);
            }
            Err(failure) => return Err(failure),
        }
    }
    // A version that is missing says more than a project that is, and an index more than a folder that came before it.
    let version = failures.iter().position(|failure| matches!(failure, FetchFailure::NoSuchVersion { .. }));
    let told = version.unwrap_or(failures.len().saturating_sub(configuration.indexes.len().max(1)));
    Err(failures.into_iter().nth(told).unwrap_or_else(|| FetchFailure::PipConfiguration {
        file: "pip's configuration".to_owned(),
        why: "no index is left: `no-index` is set and no `find-links` folder is given".to_owned(),
    }))
}

/// Gets the archive and unpacks it into the folder `partial`.
fn transfer(
    page: &ProjectPage,
    release: &Release,
    client: &Client<'_>,
    partial: &Path,
    options: &FetchOptions,
) -> Result<Description, FetchFailure> {
    let file = &release.file;
    let shown = http::without_credentials(&file.url);
    let mut unpacker = Unpacker::new(&shown, partial, options.limits, client.reporter())?;
    let (record, stated) = match ranged(release, client)? {
        Some(reader) => {
            let mut archive = wheel::open(reader, &unpacker)?;
            let record = wheel::record(&mut archive, &unpacker)?;
            wheel::unpack(&mut archive, wheel::Root::Kept, &mut unpacker)?;
            (Some(record), Integrity::RecordDigests)
        }
        None => {
            let archive = download(file, client, &options.limits, partial)?;
            let reader = archive.reopen().map_err(FetchFailure::io("read", archive.path()))?;
            unpack(release.archive, reader, &mut unpacker)?;
            (None, integrity(file))
        }
    };
    let (inventory, packed_bytes) = unpacker.finish()?;
    if let Some(record) = record {
        wheel::check_record(&record, &inventory, partial, &shown)?;
    }
    Ok(Description {
        kind: SourceKind::Pypi,
        version: Some(release.version.clone()),
        commit: None,
        url: Some(http::without_credentials(&page.url)),
        integrity: stated,
        layout: StoredLayout::of(release.archive),
        packed_bytes,
        inventory,
        fetched: entry::now(),
    })
}

fn integrity(file: &IndexFile) -> Integrity {
    match &file.sha256 {
        _ if file.is_local() => Integrity::Local,
        Some(_) => Integrity::ArchiveDigest,
        None => Integrity::Unstated,
    }
}

/// Unpacks a whole archive.
pub(crate) fn unpack(archive: Archive, reader: File, unpacker: &mut Unpacker<'_>) -> Result<(), FetchFailure> {
    let root = match archive {
        Archive::Wheel => wheel::Root::Kept,
        Archive::ZipSdist => wheel::Root::Stripped,
        Archive::TarSdist => return sdist::unpack(reader, unpacker),
    };
    let mut archive = wheel::open(BufReader::new(reader), unpacker)?;
    wheel::unpack(&mut archive, root, unpacker)
}

/// A reader of a large wheel that transfers only what is read; `None` where the file is small or the server sends whole
/// files only.
fn ranged<'client>(
    release: &Release,
    client: &'client Client<'client>,
) -> Result<Option<ranges::RangeReader<'client>>, FetchFailure> {
    let file = &release.file;
    if release.archive != Archive::Wheel || file.is_local() {
        return Ok(None);
    }
    let size = match file.size {
        Some(size) => Some(size),
        None => client.size(&file.url)?,
    };
    if size.is_none_or(|size| size <= WHOLE_UP_TO) {
        return Ok(None);
    }
    ranges::RangeReader::open(client, &file.url)
}

/// The archive as a temporary file beside the entry that is being made, its digest checked.
pub(crate) fn download(
    file: &IndexFile,
    client: &Client<'_>,
    limits: &Limits,
    partial: &Path,
) -> Result<tempfile::NamedTempFile, FetchFailure> {
    let folder = partial.parent().expect("a partial entry lies in a folder");
    let mut archive =
        tempfile::NamedTempFile::new_in(folder).map_err(FetchFailure::io("make a temporary file in", folder))?;
    client.reporter().tell(FetchEvent::Received { bytes: 0, total: file.size });
    let found = client.download(&file.url, limits.archive, archive.as_file_mut())?;
    match &file.sha256 {
        Some(expected) if *expected != found => Err(FetchFailure::DigestMismatch {
            url: http::without_credentials(&file.url),
            expected: expected.clone(),
            found,
        }),
        _ => Ok(archive),
    }
}
