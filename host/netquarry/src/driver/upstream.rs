//! Where upstream's own classes can be imported from, to be compared with the bundles that were made of them.
//!
//! A source whose distribution is installed at the very same version is imported from there, compiled extensions and all.
//! Any other is written out as it was fetched, into a folder that comes first on Python's path.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use netquarry_core::source::{Source, SourceKind};
use netquarry_core::verdict::UpstreamOrigin;
use netquarry_corpus::snapshot::Snapshot;
use sha2::{Digest, Sha256};

use super::assemble::BundleFile;
use super::discover::Candidate;
use super::fetch::FetchedSource;
use super::index::Indexed;
use crate::environment::Environment;
use crate::library::distribution_name::normalised;
use crate::library::folder::hexadecimal;
use crate::problem::Problem;
use crate::temporary::TemporaryFolder;
use crate::validate::Upstream;

/// The sources as Python can import them, for as long as this lives.
pub struct Upstreams<'a> {
    sources: Vec<Place<'a>>,
    /// Goes with this value.
    _folder: TemporaryFolder,
}

struct Place<'a> {
    snapshot: &'a Snapshot,
    origin: UpstreamOrigin,
    /// Where its files are written to, and the folders in it from which imports start.
    folder: PathBuf,
    roots: Vec<PathBuf>,
}

impl<'a> Upstreams<'a> {
    /// Finds out where each source is to be imported from. Nothing is written yet.
    pub fn new(sources: &'a [FetchedSource], environment: &Environment) -> Result<Self, Problem> {
        let folder = TemporaryFolder::new("upstream")
            .map_err(|error| Problem::io("make a folder in", &std::env::temp_dir(), error))?;
        let place = |(number, source): (usize, &'a FetchedSource)| {
            let own = folder.path().join(number.to_string());
            Place::new(&source.snapshot, environment, own)
        };
        Ok(Self { sources: sources.iter().enumerate().map(place).collect(), _folder: folder })
    }

    /// Writes out the sources that are not installed.
    pub fn write(&self) -> Result<(), Problem> {
        let mut fetched = self.sources.iter().filter(|place| place.origin == UpstreamOrigin::Snapshot);
        fetched.try_for_each(Place::write)
    }

    /// Upstream's class of a candidate; `None` where no import reaches its file.
    pub fn of(&self, indexed: &Indexed, candidate: &Candidate, bundle: &BundleFile) -> Option<Upstream> {
        let file = indexed.index.file(candidate.target.definition.file);
        let beside: BTreeSet<&str> = bundle.source_names().collect();
        let source = &indexed.index.source(file.source).name;
        self.class(source, file.file.module.as_deref()?, &candidate.name, &file.file.digest.to_string(), &beside)
    }

    /// The class `class_name` of `module`, a file of `source` with this SHA-1. Its code needs the sources `beside` it.
    pub fn class(
        &self,
        source: &str,
        module: &str,
        class_name: &str,
        sha1: &str,
        beside: &BTreeSet<&str>,
    ) -> Option<Upstream> {
        let own = self.sources.iter().find(|place| place.snapshot.source.name == source)?;
        // Repositories may have modules of equal names: only those come on the path that the block has code of.
        // Distributions are made to be installed side by side.
        let is_wanted = |place: &&Place<'_>| {
            let other = &place.snapshot.source;
            other.name != source && (other.kind == SourceKind::Pypi || beside.contains(other.name.as_str()))
        };
        let all: Vec<_> = std::iter::once(own).chain(self.sources.iter().filter(is_wanted)).collect();
        Some(Upstream {
            module: module.to_owned(),
            class_name: class_name.to_owned(),
            sha1: sha1.to_owned(),
            origin: own.origin,
            state: None,
            paths: all.iter().flat_map(|place| &place.roots).cloned().collect(),
            layers: Arc::default(),
            identity: identity(&all),
        })
    }

    /// The source of this name, if it is at this version.
    pub fn is_at(&self, name: &str, version: Option<&str>, commit: Option<&str>) -> bool {
        let is_same = |source: &Source| {
            source.name == name && source.version.as_deref() == version && source.commit.as_deref() == commit
        };
        self.sources.iter().any(|place| is_same(&place.snapshot.source))
    }
}

fn identity(places: &[&Place<'_>]) -> String {
    let line = |place: &&Place<'_>| format!("{:?} {}\n", place.origin, place.snapshot.identity);
    hexadecimal(&Sha256::digest(places.iter().map(line).collect::<String>()))
}

impl<'a> Place<'a> {
    fn new(snapshot: &'a Snapshot, environment: &Environment, folder: PathBuf) -> Self {
        if is_installed(&snapshot.source, environment) {
            return Self { snapshot, origin: UpstreamOrigin::Installed, folder, roots: Vec::new() };
        }
        let root = |root: &String| if root == "." { folder.clone() } else { folder.join(root) };
        let roots = snapshot.import_roots.iter().map(root).collect();
        Self { snapshot, origin: UpstreamOrigin::Snapshot, roots, folder }
    }

    fn write(&self) -> Result<(), Problem> {
        let files = self.folder.join(package_around(self.snapshot));
        self.snapshot.materialise(&files).map_err(|error| {
            let hint = error.hint();
            Problem::new(format!("Could not write out the source `{}`", self.snapshot.source.name))
                .because(error)
                .help(hint)
        })?;
        self.write_metadata()
    }

    /// What `importlib.metadata` has to find where a package asks for its own version.
    fn write_metadata(&self) -> Result<(), Problem> {
        let source = &self.snapshot.source;
        let (Some(name), Some(version)) = (&source.distribution, &source.version) else { return Ok(()) };
        let folder = self.folder.join(format!("{}-{version}.dist-info", name.replace(['-', '.'], "_")));
        let written = fs::create_dir_all(&folder).and_then(|()| {
            let text = format!("Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n");
            fs::write(folder.join("METADATA"), text)
        });
        written.map_err(|error| Problem::io("write", &folder, error))
    }
}

/// Whether the environment has the distribution at the source's own version; a build of it (`0.29.2+cpu`) counts.
fn is_installed(source: &Source, environment: &Environment) -> bool {
    let installed = source.distribution.as_ref().and_then(|name| environment.distributions.get(&normalised(name)));
    let installed = installed.map(|version| version.split('+').next().unwrap_or(version));
    source.kind == SourceKind::Pypi && installed.is_some() && installed == source.version.as_deref()
}

/// The folder that has to stand around the files of a source whose root is itself a package.
fn package_around(snapshot: &Snapshot) -> PathBuf {
    let of_file = |file: &netquarry_core::source::SourceFile| {
        let inside = file.path.strip_suffix(".py")?.trim_end_matches("__init__").trim_end_matches('/');
        let around = file.module.as_deref()?.strip_suffix(&inside.replace('/', "."))?;
        Some(around.trim_end_matches('.').split('.').collect())
    };
    match &snapshot.import_roots[..] {
        [root] if root == "." => snapshot.files.iter().find_map(of_file).unwrap_or_default(),
        _ => PathBuf::new(),
    }
}
