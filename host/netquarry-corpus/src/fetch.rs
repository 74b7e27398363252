//! From a [`SourceSpec`] to a [`Snapshot`].

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use netquarry_core::source::{Source, SourceKind};

use crate::cache::Cache;
use crate::contents::Contents;
use crate::corpus::{FetchPolicy, GitLocation, LocalLocation, Location, PypiLocation, SourceSpec};
use crate::entry::{Description, StoredLayout};
use crate::failure::{FetchError, FetchFailure};
use crate::git;
use crate::inventory::{Entry, Inventory, Limits, Role};
use crate::local;
use crate::metadata::MetadataFiles;
use crate::modules::{Layout, name_modules};
use crate::progress::{FetchProgress, Reporter};
use crate::pypi::{self, configuration::IndexConfiguration};
use crate::snapshot::{Integrity, Parts, Placed, Snapshot};

/// How to fetch, beside what a corpus says.
#[derive(Clone, Debug)]
pub struct FetchOptions {
    /// The folder that keeps what was fetched; several processes may share it.
    pub cache: PathBuf,
    /// Stands in the place of the policies of all sources.
    pub policy: Option<FetchPolicy>,
    /// The network is not used; what is cached is good enough, whatever the policy.
    pub offline: bool,
    /// The package index; without it the one that pip is configured with.
    pub index: Option<IndexConfiguration>,
    pub limits: Limits,
    /// The pause before a second attempt.
    pub back_off: Duration,
}

impl FetchOptions {
    pub fn new(cache: impl Into<PathBuf>) -> Self {
        Self {
            cache: cache.into(),
            policy: None,
            offline: false,
            index: None,
            limits: Limits::default(),
            back_off: Duration::from_millis(500),
        }
    }

    fn demand(&self, spec: &SourceSpec) -> Demand {
        match self.policy.unwrap_or(spec.fetch) {
            _ if self.offline => Demand::CacheOnly("the network is switched off"),
            FetchPolicy::Never => Demand::CacheOnly("its fetch policy is `never`"),
            FetchPolicy::Missing => Demand::IfMissing,
            FetchPolicy::Always => Demand::Ask,
        }
    }
}

/// Whether the network is to be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Demand {
    Ask,
    IfMissing,
    /// Not at all, for this reason.
    CacheOnly(&'static str),
}

/// Fetches one source. Sources may be fetched at the same time, by threads and by processes.
///
/// # Errors
/// If the source is not there, or does not arrive whole, or is refused as unsafe. What other sources have in the cache stays.
pub fn fetch(spec: &SourceSpec, options: &FetchOptions, progress: &dyn FetchProgress) -> Result<Snapshot, FetchError> {
    let reporter = Reporter { source_name: &spec.name, progress };
    let snapshot = match &spec.location {
        Location::Pypi(location) => fetch_pypi(spec, location, options, reporter),
        Location::Git(location) => fetch_git(spec, location, options, reporter),
        Location::Local(location) => fetch_local(spec, location, options, reporter),
    };
    snapshot.map_err(|failure| FetchError { source_name: spec.name.clone(), failure })
}

fn fetch_pypi(
    spec: &SourceSpec,
    location: &PypiLocation,
    options: &FetchOptions,
    reporter: Reporter<'_>,
) -> Result<Snapshot, FetchFailure> {
    let cache = Cache::open(&options.cache)?;
    let (entry, description) = pypi::fetch(location, options.demand(spec), &cache, options, reporter)?;
    let layout = layout(description.layout, spec);
    assemble(spec, description, Contents::Packed(entry), layout)
}

fn fetch_git(
    spec: &SourceSpec,
    location: &GitLocation,
    options: &FetchOptions,
    reporter: Reporter<'_>,
) -> Result<Snapshot, FetchFailure> {
    let cache = Cache::open(&options.cache)?;
    let (objects, description) = git::fetch(location, options.demand(spec), &cache, options, reporter)?;
    let layout = layout(description.layout, spec);
    assemble(spec, description, Contents::Git(Box::new(objects)), layout)
}

/// Local copies are read every time: they are at hand, and they change.
fn fetch_local(
    spec: &SourceSpec,
    location: &LocalLocation,
    options: &FetchOptions,
    reporter: Reporter<'_>,
) -> Result<Snapshot, FetchFailure> {
    let place = location.place();
    let path = fs::canonicalize(&place).map_err(|_| FetchFailure::NoSuchPath { path: place })?;
    if path.is_file() {
        let cache = Cache::open(&options.cache)?;
        let (entry, description) = local::unpack_archive(&path, &cache, options, reporter)?;
        let layout = layout(description.layout, spec);
        return assemble(spec, description, Contents::Packed(entry), layout);
    }
    let inventory = local::read_folder(&path, &options.limits, reporter)?;
    let package = package_name(&path, &inventory);
    let layout = match &package {
        Some(name) if spec.import_roots.is_none() => Layout::Package { name },
        _ => Layout::Repository { import_roots: spec.import_roots.as_deref() },
    };
    let description = Description {
        kind: SourceKind::Local,
        version: None,
        commit: None,
        url: Some(location.path.display().to_string()),
        integrity: Integrity::Local,
        layout: StoredLayout::Repository,
        packed_bytes: 0,
        inventory,
        fetched: None,
    };
    assemble(spec, description, Contents::Folder(path.clone()), layout)
}

fn layout(stored: StoredLayout, spec: &SourceSpec) -> Layout<'_> {
    match (stored, &spec.import_roots) {
        (StoredLayout::SitePackages, None) => Layout::SitePackages,
        (_, import_roots) => Layout::Repository { import_roots: import_roots.as_deref() },
    }
}

/// A folder that is a package itself, `site-packages/timm`, rather than one that holds packages.
fn package_name(folder: &Path, inventory: &Inventory) -> Option<String> {
    let has = |path: &str| inventory.entries.iter().any(|entry| entry.path == path);
    let is_package = has("__init__.py") && !has("setup.py") && !has("pyproject.toml");
    is_package.then(|| folder.file_name()?.to_str().map(str::to_owned)).flatten()
}

fn assemble(
    spec: &SourceSpec,
    description: Description,
    contents: Contents,
    layout: Layout<'_>,
) -> Result<Snapshot, FetchFailure> {
    let Description { kind, version, commit, url, integrity, inventory, fetched, .. } = description;
    let python = inventory.entries.iter().filter(|entry| entry.role == Role::Python);
    let modules = name_modules(&python.map(|entry| entry.path.as_str()).collect::<Vec<_>>(), layout);
    let metadata = metadata_files(&inventory, &contents)?.read(&modules.names);
    let source = Source {
        name: spec.name.clone(),
        kind,
        version: version.or_else(|| metadata.version.clone()),
        tree: commit.as_deref().and_then(|commit| contents.tree(commit)),
        commit,
        url,
        license: metadata.license.clone(),
        distribution: spec.location.distribution().map(str::to_owned).or_else(|| metadata.name.clone()),
    };
    Ok(Snapshot::assemble(Parts {
        source,
        inventory,
        modules: modules.names,
        import_roots: modules.roots,
        metadata,
        integrity,
        fetched: fetched.map(|seconds| UNIX_EPOCH + Duration::from_secs(seconds)),
        contents,
    }))
}

/// Of several files of one kind the one nearest to the root speaks for the source.
fn metadata_files(inventory: &Inventory, contents: &Contents) -> Result<MetadataFiles, FetchFailure> {
    let nearest = |role: Role, names: &[&str]| {
        let named = |entry: &&Entry| names.is_empty() || names.contains(&file_name(&entry.path));
        let entries = inventory.entries.iter().filter(|entry| entry.role == role).filter(named);
        entries.min_by_key(|entry| (entry.path.matches('/').count(), &entry.path))
    };
    let text = |entry: Option<&Entry>| -> Result<Option<String>, FetchFailure> {
        let Some(entry) = entry else { return Ok(None) };
        let placed = Placed { place: entry.place.clone(), digest: entry.digest, bytes: entry.bytes };
        let bytes = contents.read(&entry.path, &placed);
        let bytes = bytes.map_err(FetchFailure::io("read", Path::new(&entry.path)))?;
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    };
    Ok(MetadataFiles {
        core: text(nearest(Role::Metadata, &["METADATA", "PKG-INFO"]))?,
        top_level: text(nearest(Role::Metadata, &["top_level.txt"]))?,
        pyproject: text(nearest(Role::Metadata, &["pyproject.toml"]))?,
        setup_cfg: text(nearest(Role::Metadata, &["setup.cfg"]))?,
        license: text(nearest(Role::License, &[]))?,
    })
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().expect("splitting yields a part")
}
