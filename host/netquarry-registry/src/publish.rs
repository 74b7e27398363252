//! Writing a registry that is a folder: new versions, and versions that nobody should use any more.
//!
//! A version's files are there before the index names them, the index changes in one step, and whoever changes it holds
//! the folder's lock.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use netquarry_plugin::Kind;
use netquarry_plugin::api_version::{self, ApiVersion, ApiVersionError};
use semver::{Version, VersionReq};

use crate::digest::{Pin, SIZE_LIMIT};
use crate::files::write_whole;
use crate::index::{FILE_NAME, GoldenPack, Index, IndexKey, IndexedPlugin, IndexedVersion, Permission};
use crate::location::Location;
use crate::name::{FIRST_PARTY, check_name, is_first_party};
use crate::parse::{IndexError, check_reason, check_version, parse, plugin_faults};
use crate::resolve::accepts;
use crate::trust::{PublicKey, Subject, Trust, TrustError, verify};

/// Held by whoever changes the registry. It stays there, empty.
pub(crate) const LOCK_FILE: &str = ".registry.lock";

/// What a registry is called whose folder's name is no name.
const DEFAULT_NAME: &str = "plugins";

/// A version to publish.
#[derive(Clone, Debug)]
pub struct Submission<'a> {
    pub name: &'a str,
    pub version: &'a str,
    pub kind: Kind,
    /// One line.
    pub summary: &'a str,
    /// An SPDX expression.
    pub license: &'a str,
    /// A URL, or `.`.
    pub repository: &'a str,
    /// On which hosts it runs: `^0.1.0`.
    pub wit: &'a str,
    pub permissions: &'a [Permission],
    pub component: &'a [u8],
    /// The bytes of the golden pack.
    pub golden: Option<&'a [u8]>,
    /// The text of a minisign signature, as [`crate::signing::sign`] makes it.
    pub signature: Option<&'a str>,
}

/// Whether a version may be older than what there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    NewestOnly,
    Any,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Published {
    New,
    /// The same version with the same bytes was there.
    AlreadyThere,
    /// It was there without a signature, or with one that no key of the registry has made any more, and has this one now.
    Signed,
}

#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    #[error(transparent)]
    Index(#[from] IndexError),
    #[error(transparent)]
    Trust(#[from] TrustError),
    #[error("cannot {action} {}: {error}; check the path and its permissions", path.display())]
    Io { action: &'static str, path: PathBuf, error: io::Error },
    #[error("{} is there already; publish into it, or choose another folder", path.display())]
    Exists { path: PathBuf },
    #[error("{plugin} cannot be published: its {field}: {why}")]
    Field { plugin: String, field: &'static str, why: String },
    #[error("{plugin} cannot be published: {source}; build it with `netquarry plugin build`")]
    Component { plugin: String, source: ApiVersionError },
    #[error(
        "{plugin} cannot be published: it was built against {built}, and `wit` is {wit}, which does not accept that"
    )]
    Wit { plugin: String, built: ApiVersion, wit: String },
    #[error(
        "{plugin} is published already, with {what} ({published}, not {found}): a version never changes, so choose a new one"
    )]
    Conflict { plugin: String, what: &'static str, published: String, found: String },
    #[error("`{name}` is published as a {published}, and this is a {found}: choose another name")]
    OtherKind { name: String, published: Kind, found: Kind },
    #[error("{plugin} is not newer than {newest}, which is published: raise the version, or allow an older one")]
    NotNewer { plugin: String, newest: String },
    #[error("the registry {} has no {plugin}; it has {}", folder.display(), none_or(known))]
    NoSuchVersion { folder: PathBuf, plugin: String, known: Vec<String> },
}

fn none_or(list: &[String]) -> String {
    if list.is_empty() { "none".to_owned() } else { list.join(", ") }
}

/// Makes a registry without plugins in a folder, and the folder where it is not there.
///
/// # Errors
/// If there is one already, a name or key is none, or the file cannot be written.
pub fn init(folder: &Path, name: &str, keys: Vec<IndexKey>) -> Result<Index, PublishError> {
    let _lock = FolderLock::take(folder)?;
    let path = folder.join(FILE_NAME);
    if path.exists() {
        return Err(PublishError::Exists { path });
    }
    let index = Index::new(name, keys);
    write(folder, &index)?;
    Ok(index)
}

/// Lays a version into the registry in `folder`, which is made where it is not there.
///
/// # Errors
/// If the version is not as the format has it, is there with other content, or is not signed as the registry wants it.
/// Then nothing has changed.
pub fn publish(folder: &Path, submission: &Submission<'_>, order: Order) -> Result<Published, PublishError> {
    let (plugin, version) = entries(submission);
    if let Some(refusal) = faults(submission, &plugin, &version).into_iter().next() {
        return Err(refusal);
    }
    let _lock = FolderLock::take(folder)?;
    let mut index = read_or_new(folder)?;
    let keys = keys(&index);
    let subject = Subject { name: submission.name, version: submission.version, component: submission.component };
    verify(subject, submission.signature, &keys, Trust::AllowUnsigned)?;

    let listed = index.plugins.entry(submission.name.to_owned()).or_insert_with(|| plugin.clone());
    match place(listed, submission, &version, order)? {
        Ok(position) => {
            let there = &mut listed.versions[position];
            let is_signed = |signature: &str| verify(subject, Some(signature), &keys, Trust::AllowUnsigned).is_ok();
            if version.signature.is_none() || there.signature.as_deref().is_some_and(is_signed) {
                return Ok(Published::AlreadyThere);
            }
            there.signature = version.signature;
            write(folder, &index)?;
            Ok(Published::Signed)
        }
        Err(position) => {
            lay(folder, &version, submission)?;
            let is_newest = position == listed.versions.len();
            listed.versions.insert(position, version);
            if is_newest {
                // What is said about the plugin is what its newest version says.
                let versions = std::mem::take(&mut listed.versions);
                *listed = IndexedPlugin { versions, ..plugin };
            }
            write(folder, &index)?;
            Ok(Published::New)
        }
    }
}

/// Why [`publish`] would refuse a version whatever it is signed with: all that is wrong with it and, of a registry, why it has
/// no place there; one that is not there yet has place for all. Nothing is written.
///
/// # Errors
/// If the registry in `folder` cannot be read.
pub fn refusals(
    submission: &Submission<'_>,
    folder: Option<&Path>,
    order: Order,
) -> Result<Vec<PublishError>, PublishError> {
    let (plugin, version) = entries(submission);
    let mut refusals = faults(submission, &plugin, &version);
    let index = folder.filter(|folder| folder.join(FILE_NAME).exists()).map(read).transpose()?;
    let listed = index.as_ref().and_then(|index| index.plugins.get(submission.name));
    // Without a version there is no order in which it could have a place.
    if let Some(listed) = listed.filter(|_| Version::parse(submission.version).is_ok()) {
        refusals.extend(place(listed, submission, &version, order).err());
    }
    Ok(refusals)
}

/// The identifiers of the keys of which one has to sign the versions of a registry; none where it takes unsigned ones, or is
/// not there yet.
///
/// # Errors
/// If the registry in `folder` cannot be read.
pub fn signers(folder: &Path) -> Result<Vec<String>, PublishError> {
    if !folder.join(FILE_NAME).exists() {
        return Ok(Vec::new());
    }
    Ok(keys(&read(folder)?).iter().map(|key| key.id().to_owned()).collect())
}

/// The keys that the index itself names.
pub(crate) fn keys(index: &Index) -> Vec<PublicKey> {
    index.keys.iter().map(|key| PublicKey::parse(&key.key).expect("the index was checked")).collect()
}

/// Marks a version as one that nobody should use, and says why.
///
/// # Errors
/// If there is no such version, or the reason is not one line of text.
pub fn yank(folder: &Path, name: &str, version: &str, reason: &str) -> Result<(), PublishError> {
    if let Err(why) = check_reason(reason) {
        return Err(PublishError::Field { plugin: format!("{name} {version}"), field: "yanked", why });
    }
    set_yanked(folder, name, version, Some(reason.to_owned()))
}

/// Takes back a [`yank`].
///
/// # Errors
/// If there is no such version.
pub fn unyank(folder: &Path, name: &str, version: &str) -> Result<(), PublishError> {
    set_yanked(folder, name, version, None)
}

fn set_yanked(folder: &Path, name: &str, version: &str, yanked: Option<String>) -> Result<(), PublishError> {
    // Nothing is made in a folder that is no registry.
    read(folder)?;
    let _lock = FolderLock::take(folder)?;
    let mut index = read(folder)?;
    let versions = index.plugins.get_mut(name).map(|plugin| &mut plugin.versions);
    let known = versions.iter().flat_map(|versions| versions.iter().map(|version| version.version.clone())).collect();
    let Some(found) = versions.and_then(|versions| versions.iter_mut().find(|found| found.version == version)) else {
        let plugin = format!("{name} {version}");
        return Err(PublishError::NoSuchVersion { folder: folder.to_path_buf(), plugin, known });
    };
    found.yanked = yanked;
    write(folder, &index)
}

/// The two entries that a version makes.
fn entries(submission: &Submission<'_>) -> (IndexedPlugin, IndexedVersion) {
    let path = |ending: &str| {
        let name = submission.name;
        Location::File(format!("plugins/{name}/{name}-{}{ending}", submission.version))
    };
    let pin = Pin::of(submission.component);
    let golden = submission.golden.map(|golden| {
        let Pin { sha256, size } = Pin::of(golden);
        GoldenPack { sha256, size, location: path(".golden.json") }
    });
    let mut permissions = submission.permissions.to_vec();
    permissions.sort();
    permissions.dedup();
    let version = IndexedVersion {
        version: submission.version.to_owned(),
        wit: submission.wit.to_owned(),
        location: path(".wasm"),
        sha256: Some(pin.sha256),
        size: Some(pin.size),
        yanked: None,
        golden,
        permissions,
        signature: submission.signature.map(str::to_owned),
    };
    let plugin = IndexedPlugin {
        kind: submission.kind,
        summary: submission.summary.to_owned(),
        license: submission.license.to_owned(),
        repository: submission.repository.to_owned(),
        folder: None,
        versions: Vec::new(),
    };
    (plugin, version)
}

/// In what the entries of a version are not what the format promises, or its component is none for them. Without faults its
/// version is one that can be ordered.
fn faults(submission: &Submission<'_>, plugin: &IndexedPlugin, version: &IndexedVersion) -> Vec<PublishError> {
    let shown = || format!("{} {}", submission.name, submission.version);
    let field = |field, why| PublishError::Field { plugin: shown(), field, why };
    let mut faults = Vec::new();
    faults.extend(check_name(submission.name).err().map(|why| field("name", why)));
    if is_first_party(submission.name) {
        faults.push(field("name", "a plugin of the program has it, so nobody could have this one".to_owned()));
    }
    for (what, bytes) in [("component", Some(submission.component)), ("golden pack", submission.golden)] {
        if bytes.is_some_and(|bytes| bytes.is_empty() || bytes.len() as u64 > SIZE_LIMIT) {
            faults.push(field(what, format!("it has from 1 to {SIZE_LIMIT} bytes")));
        }
    }
    faults.extend(plugin_faults(plugin).into_iter().map(|(place, why)| field(place, why)));
    faults.extend(check_version(version).err().map(|(place, why)| field(place, why)));
    match (api_version::read(submission.component), VersionReq::parse(submission.wit)) {
        (Err(source), _) => faults.push(PublishError::Component { plugin: shown(), source }),
        (Ok(built), Ok(wit)) if !accepts(&wit, built) => {
            faults.push(PublishError::Wit { plugin: shown(), built, wit: submission.wit.to_owned() });
        }
        // A requirement that is none is among the faults of the version.
        (Ok(_), _) => {}
    }
    faults
}

/// Where a version stands among those of a plugin: `Ok` where it is there already, `Err` where it belongs.
fn place(
    listed: &IndexedPlugin,
    submission: &Submission<'_>,
    version: &IndexedVersion,
    order: Order,
) -> Result<Result<usize, usize>, PublishError> {
    let shown = format!("{} {}", submission.name, submission.version);
    if listed.kind != submission.kind {
        let (name, published, found) = (submission.name.to_owned(), listed.kind, submission.kind);
        return Err(PublishError::OtherKind { name, published, found });
    }
    let parsed = |version: &IndexedVersion| Version::parse(&version.version).expect("the version was checked");
    let place = listed.versions.binary_search_by_key(&parsed(version), parsed);
    match place {
        Ok(position) => same_content(&shown, &listed.versions[position], version)?,
        Err(position) => {
            let newest = listed.versions.last().filter(|_| position < listed.versions.len());
            if let (Some(newest), Order::NewestOnly) = (newest, order) {
                return Err(PublishError::NotNewer { plugin: shown, newest: newest.version.clone() });
            }
        }
    }
    Ok(place)
}

/// Whether a version that is there is the one to publish. Its signature is no part of that: two of the same bytes differ.
fn same_content(plugin: &str, there: &IndexedVersion, new: &IndexedVersion) -> Result<(), PublishError> {
    let golden = |version: &IndexedVersion| version.golden.as_ref().map(|golden| golden.sha256.clone());
    let permissions = |version: &IndexedVersion| {
        let each = version.permissions.iter().map(|permission| format!("{} {}", permission.name, permission.scope));
        none_or(&each.collect::<Vec<_>>())
    };
    let none = || "none".to_owned();
    let parts = [
        ("other bytes", there.sha256.clone().unwrap_or_else(none), new.sha256.clone().unwrap_or_else(none)),
        ("another golden pack", golden(there).unwrap_or_else(none), golden(new).unwrap_or_else(none)),
        ("another `wit`", there.wit.clone(), new.wit.clone()),
        ("other permissions", permissions(there), permissions(new)),
    ];
    for (what, published, found) in parts {
        if published != found {
            return Err(PublishError::Conflict { plugin: plugin.to_owned(), what, published, found });
        }
    }
    Ok(())
}

fn lay(folder: &Path, version: &IndexedVersion, submission: &Submission<'_>) -> Result<(), PublishError> {
    let golden = version.golden.as_ref().map(|golden| &golden.location).zip(submission.golden);
    for (location, bytes) in [Some((&version.location, submission.component)), golden].into_iter().flatten() {
        let Location::File(path) = location else { unreachable!("made of files above") };
        let path = folder.join(path);
        write_whole(&path, bytes).map_err(io("write", &path))?;
    }
    Ok(())
}

fn read_or_new(folder: &Path) -> Result<Index, PublishError> {
    if folder.join(FILE_NAME).exists() {
        return read(folder);
    }
    let real = fs::canonicalize(folder).map_err(io("read", folder))?;
    let name = real.file_name().and_then(|name| name.to_str()).filter(|name| check_name(name).is_ok());
    Ok(Index::new(name.filter(|name| *name != FIRST_PARTY).unwrap_or(DEFAULT_NAME), Vec::new()))
}

pub(crate) fn read(folder: &Path) -> Result<Index, PublishError> {
    let path = folder.join(FILE_NAME);
    let text = fs::read_to_string(&path).map_err(io("read", &path))?;
    Ok(parse(&text, &path.display().to_string())?)
}

/// Nothing is written that could not be read again.
pub(crate) fn write(folder: &Path, index: &Index) -> Result<(), PublishError> {
    let path = folder.join(FILE_NAME);
    let text = index.to_json();
    parse(&text, &path.display().to_string())?;
    write_whole(&path, text.as_bytes()).map_err(io("write", &path))
}

/// Released when dropped, also by the end of the process.
pub(crate) struct FolderLock {
    _file: File,
}

impl FolderLock {
    /// Waits until nobody else has it.
    pub(crate) fn take(folder: &Path) -> Result<Self, PublishError> {
        fs::create_dir_all(folder).map_err(io("make", folder))?;
        let path = folder.join(LOCK_FILE);
        let file = File::options().create(true).truncate(false).write(true).open(&path).map_err(io("open", &path))?;
        file.lock().map_err(io("lock", &path))?;
        Ok(Self { _file: file })
    }
}

pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> PublishError {
    let path = path.to_path_buf();
    move |error| PublishError::Io { action, path, error }
}
