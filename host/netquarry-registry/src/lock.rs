//! `netquarry.lock`: the plugins that a project has pinned.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use netquarry_plugin::Kind;
use semver::{Version, VersionReq};
use serde::{Deserialize, Serialize};

use crate::digest::{Mismatch, Pin, is_sha256};
use crate::files::write_whole;
use crate::index::Permission;
use crate::location::Location;
use crate::name::check_name;
use crate::resolve::Resolved;
use crate::trust::Voucher;

/// The version of the format that this program reads and writes.
const FORMAT: u64 = 1;

const HEADER: &str = "# made by netquarry; do not edit\n";

/// The name of the file in a project's folder.
pub const FILE_NAME: &str = "netquarry.lock";

/// What a project has pinned, sorted by name, each name once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lock {
    plugins: Vec<LockedPlugin>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockedPlugin {
    pub name: String,
    pub version: String,
    pub kind: Kind,
    pub pin: Pin,
    /// The name of the registry.
    pub registry: String,
    /// As the registry's index has it.
    pub location: Location,
    /// On which hosts it runs.
    pub wit: String,
    /// SHA-256 of the golden pack.
    pub golden: Option<String>,
    pub voucher: Voucher,
    /// What it asks for, sorted.
    pub permissions: Vec<Permission>,
}

#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("cannot read {}: {error}; check the path and its permissions", path.display())]
    Unreadable { path: PathBuf, error: io::Error },
    #[error("cannot write {}: {error}; check the path and its permissions", path.display())]
    Unwritable { path: PathBuf, error: io::Error },
    /// `file` has the line too, where there is one.
    #[error("{file} is not a lock: {message}; take it from version control, or delete it and lock anew")]
    Syntax { file: String, message: String },
    #[error(
        "{file} is a lock of format {found}, and this program reads format {FORMAT}: use a NetQuarry that knows it"
    )]
    Format { file: String, found: u64 },
    #[error("{file}: the plugin `{plugin}`: {message}; take the file from version control, or delete it and lock anew")]
    Content { file: String, plugin: String, message: String },
}

/// Why bytes are not those of a locked plugin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    #[error("`{name}` is not locked: lock it with `netquarry plugin add {name}`")]
    NotLocked { name: String },
    #[error("{plugin} has other bytes than were locked: {mismatch}; it does not run")]
    OtherBytes { plugin: String, mismatch: Mismatch },
}

impl LockedPlugin {
    /// What was resolved, once somebody vouches for its bytes.
    pub fn new(resolved: &Resolved, voucher: Voucher) -> Self {
        let mut permissions = resolved.permissions.clone();
        permissions.sort();
        permissions.dedup();
        Self {
            name: resolved.name.clone(),
            version: resolved.version.clone(),
            kind: resolved.kind,
            pin: resolved.pin.clone(),
            registry: resolved.registry.clone(),
            location: resolved.location.clone(),
            wit: resolved.wit.clone(),
            golden: resolved.golden.as_ref().map(|golden| golden.sha256.clone()),
            voucher,
            permissions,
        }
    }

    /// # Errors
    /// If these are other bytes than were locked.
    pub fn verify(&self, component: &[u8]) -> Result<(), VerifyError> {
        let other = |mismatch| VerifyError::OtherBytes { plugin: self.to_string(), mismatch };
        self.pin.check(component).map_err(other)
    }
}

impl fmt::Display for LockedPlugin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.name, self.version)
    }
}

impl Lock {
    /// The lock in a file; an empty one where there is no file.
    ///
    /// # Errors
    /// If it cannot be read or is no lock.
    pub fn read(path: &Path) -> Result<Self, LockError> {
        match std::fs::read_to_string(path) {
            Ok(text) => Self::parse(&text, &path.display().to_string()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(LockError::Unreadable { path: path.to_path_buf(), error }),
        }
    }

    /// `file` is what errors call it.
    ///
    /// # Errors
    /// If the text is no lock.
    pub fn parse(text: &str, file: &str) -> Result<Self, LockError> {
        let syntax = |error: toml::de::Error| LockError::Syntax {
            file: error.span().map_or_else(|| file.to_owned(), |span| format!("{file}:{}", line_of(text, span.start))),
            message: error.message().trim_end().replace('\n', ", "),
        };
        let AnyFormat { format } = toml::from_str(text).map_err(syntax)?;
        if format != FORMAT {
            return Err(LockError::Format { file: file.to_owned(), found: format });
        }
        let document: Document = toml::from_str(text).map_err(syntax)?;
        let mut lock = Self::default();
        for entry in document.plugin {
            let plugin = entry.name.clone();
            let content = |message| LockError::Content { file: file.to_owned(), plugin, message };
            if lock.get(&entry.name).is_some() {
                return Err(content("it is there twice".to_owned()));
            }
            lock.insert(entry.checked().map_err(content)?);
        }
        Ok(lock)
    }

    /// Written in one step, and not at all where it would not change.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), LockError> {
        let text = self.to_toml();
        if std::fs::read_to_string(path).is_ok_and(|old| old == text) {
            return Ok(());
        }
        write_whole(path, text.as_bytes()).map_err(|error| LockError::Unwritable { path: path.to_path_buf(), error })
    }

    /// The text of the file: the same lock gives the same bytes.
    pub fn to_toml(&self) -> String {
        let document = Document { format: FORMAT, plugin: self.plugins.iter().map(Entry::of).collect() };
        let text = toml::to_string(&document).expect("a lock is plain TOML");
        format!("{HEADER}{text}")
    }

    pub fn plugins(&self) -> &[LockedPlugin] {
        &self.plugins
    }

    pub fn get(&self, name: &str) -> Option<&LockedPlugin> {
        self.position(name).ok().map(|position| &self.plugins[position])
    }

    /// Puts a plugin in, in the place of one with the same name.
    pub fn insert(&mut self, plugin: LockedPlugin) {
        match self.position(&plugin.name) {
            Ok(position) => self.plugins[position] = plugin,
            Err(position) => self.plugins.insert(position, plugin),
        }
    }

    pub fn remove(&mut self, name: &str) -> Option<LockedPlugin> {
        self.position(name).ok().map(|position| self.plugins.remove(position))
    }

    /// The entry that allows these bytes to run under that name.
    ///
    /// # Errors
    /// If the name is not locked, or with other bytes.
    pub fn verify(&self, name: &str, component: &[u8]) -> Result<&LockedPlugin, VerifyError> {
        let locked = self.get(name).ok_or_else(|| VerifyError::NotLocked { name: name.to_owned() })?;
        locked.verify(component)?;
        Ok(locked)
    }

    fn position(&self, name: &str) -> Result<usize, usize> {
        self.plugins.binary_search_by(|plugin| plugin.name.as_str().cmp(name))
    }
}

/// The line, from 1, in which a byte of the text lies.
fn line_of(text: &str, byte: usize) -> usize {
    1 + text.bytes().take(byte).filter(|byte| *byte == b'\n').count()
}

#[derive(Deserialize)]
struct AnyFormat {
    format: u64,
}

/// The file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    format: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    plugin: Vec<Entry>,
}

/// One `[[plugin]]`, in the order in which it is written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Entry {
    name: String,
    version: String,
    kind: Kind,
    sha256: String,
    size: u64,
    registry: String,
    location: String,
    wit: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    golden: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    signed_by: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    unsigned: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    permissions: Vec<Permission>,
}

impl Entry {
    fn of(plugin: &LockedPlugin) -> Self {
        let signed_by = match &plugin.voucher {
            Voucher::Key(id) => Some(id.clone()),
            Voucher::BuiltIn | Voucher::Nobody => None,
        };
        Self {
            name: plugin.name.clone(),
            version: plugin.version.clone(),
            kind: plugin.kind,
            sha256: plugin.pin.sha256.clone(),
            size: plugin.pin.size,
            registry: plugin.registry.clone(),
            location: plugin.location.to_string(),
            wit: plugin.wit.clone(),
            golden: plugin.golden.clone(),
            signed_by,
            unsigned: plugin.voucher == Voucher::Nobody,
            permissions: plugin.permissions.clone(),
        }
    }

    fn checked(self) -> Result<LockedPlugin, String> {
        check_name(&self.name)?;
        check_name(&self.registry)?;
        Version::parse(&self.version).map_err(|error| format!("version {:?}: {error}", self.version))?;
        VersionReq::parse(&self.wit).map_err(|error| format!("wit {:?}: {error}", self.wit))?;
        for digest in std::iter::once(&self.sha256).chain(&self.golden) {
            if !is_sha256(digest) {
                return Err(format!("{digest:?} is not a SHA-256: 64 lower-case hexadecimal digits"));
            }
        }
        if self.size > crate::digest::SIZE_LIMIT {
            return Err(format!("{} bytes is not a size that is fetched", self.size));
        }
        let location: Location = self.location.parse()?;
        let built_in = matches!(location, Location::Embedded(_));
        let voucher = match (self.signed_by, self.unsigned) {
            (None, false) if built_in => Voucher::BuiltIn,
            (Some(id), false) if !built_in => Voucher::Key(id),
            (None, true) if !built_in => Voucher::Nobody,
            _ => {
                return Err(
                    "`signed-by` or `unsigned` must say who vouches for it, not both; neither if embedded".to_owned()
                );
            }
        };
        if built_in != (self.registry == crate::name::FIRST_PARTY) {
            return Err("what is embedded, and only that, is of the registry in the program".to_owned());
        }
        Ok(LockedPlugin {
            name: self.name,
            version: self.version,
            kind: self.kind,
            pin: Pin { sha256: self.sha256, size: self.size },
            registry: self.registry,
            location,
            wit: self.wit,
            golden: self.golden,
            voucher,
            permissions: self.permissions,
        })
    }
}
