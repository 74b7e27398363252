//! What fetching looks for in a source, and the list of what it found.

use netquarry_core::source::ContentDigest;
use serde::{Deserialize, Serialize};

use crate::snapshot::SkippedFile;

/// The files of a source that count, in any order, and those that were passed over with a reason.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Inventory {
    pub(crate) entries: Vec<Entry>,
    pub(crate) skipped: Vec<SkippedFile>,
}

impl Inventory {
    pub(crate) fn skip(&mut self, path: impl Into<String>, why: impl Into<String>) {
        let path = path.into().chars().map(|letter| if letter.is_control() { '\u{fffd}' } else { letter }).collect();
        self.skipped.push(SkippedFile { path, why: why.into() });
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// Relative, with forward slashes, within the root: made by [`crate::paths::checked`].
    pub(crate) path: String,
    pub(crate) role: Role,
    pub(crate) digest: ContentDigest,
    pub(crate) bytes: u64,
    pub(crate) place: Place,
}

/// Where the bytes of an entry are, in terms of the snapshot's contents.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Place {
    /// At this offset of the packed file.
    Packed(u64),
    /// The git object of this name.
    Blob(String),
    /// In the folder, at the path.
    Folder,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Role {
    Python,
    License,
    Metadata,
    Data,
}

/// How much a snapshot may hold. The defaults are ten times what the largest known distribution needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of an archive that is transferred whole; more are an error.
    pub archive: u64,
    /// Bytes of one Python file; larger ones are passed over.
    pub python_file: u64,
    /// Bytes of one licence or metadata file.
    pub text_file: u64,
    /// Bytes of one data file.
    pub data_file: u64,
    /// Bytes of all data files; what comes later is passed over.
    pub all_data: u64,
    /// Bytes of everything that is kept; more is an error.
    pub total: u64,
    /// Kept files; more are an error.
    pub files: usize,
    /// Members of an archive or entries of a tree, kept or not; more are an error.
    pub members: usize,
    /// Uncompressed bytes of a compressed archive that has to be read through; more are an error.
    pub uncompressed: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            archive: 8 << 30,
            python_file: 16 << 20,
            text_file: 1 << 20,
            data_file: 1 << 20,
            all_data: 64 << 20,
            total: 2 << 30,
            files: 200_000,
            members: 2_000_000,
            uncompressed: 16 << 30,
        }
    }
}

impl Limits {
    pub(crate) fn of(&self, role: Role) -> u64 {
        match role {
            Role::Python => self.python_file,
            Role::License | Role::Metadata => self.text_file,
            Role::Data => self.data_file,
        }
    }
}

/// Counts what a snapshot takes in against its limits.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    limits: Limits,
    members: usize,
    files: usize,
    data_bytes: u64,
    bytes: u64,
}

/// A limit is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The file stays out, with this reason.
    File(String),
    /// The source is refused as a whole.
    Source { limit: u64, what: &'static str },
}

impl Budget {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, members: 0, files: 0, data_bytes: 0, bytes: 0 }
    }

    /// Files taken so far.
    pub(crate) fn files(&self) -> u64 {
        self.files as u64
    }

    /// Something was seen, whether it counts or not.
    pub(crate) fn see(&mut self) -> Result<(), Refusal> {
        self.members += 1;
        self.within(self.members <= self.limits.members, self.limits.members as u64, "members")
    }

    /// A file of this role and size is to be taken.
    pub(crate) fn take(&mut self, role: Role, bytes: u64) -> Result<(), Refusal> {
        let limit = self.limits.of(role);
        if bytes > limit {
            return Err(Refusal::File(format!("it is larger than {limit} bytes")));
        }
        if role == Role::Data {
            if self.data_bytes + bytes > self.limits.all_data {
                return Err(Refusal::File(format!(
                    "all data files together are larger than {} bytes",
                    self.limits.all_data
                )));
            }
            self.data_bytes += bytes;
        }
        self.files += 1;
        self.bytes += bytes;
        self.within(self.files <= self.limits.files, self.limits.files as u64, "files")?;
        self.within(self.bytes <= self.limits.total, self.limits.total, "bytes of code")
    }

    fn within(&self, holds: bool, limit: u64, what: &'static str) -> Result<(), Refusal> {
        if holds { Ok(()) } else { Err(Refusal::Source { limit, what }) }
    }
}

/// What the file at `path` is to us; `None` for what a snapshot does not hold.
pub(crate) fn role_of(path: &str) -> Option<Role> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let lowercase = name.to_ascii_lowercase();
    let (stem, extension) = lowercase.rsplit_once('.').unwrap_or((&lowercase, ""));
    let holder = folder.rsplit('/').next().unwrap_or("");
    let packaging = holder.ends_with(".dist-info") || holder.ends_with(".egg-info");
    if extension == "py" {
        return Some(Role::Python);
    }
    let license_stems = ["license", "licence", "copying", "copyright", "notice", "unlicense"];
    let license_extensions = ["", "txt", "md", "rst"];
    let is_license = license_stems.iter().any(|license| stem.starts_with(license))
        && (license_extensions.contains(&extension) || !lowercase.contains('.'));
    if is_license || folder.contains(".dist-info/licenses") {
        return Some(Role::License);
    }
    match name {
        "METADATA" | "top_level.txt" if packaging => Some(Role::Metadata),
        "PKG-INFO" | "pyproject.toml" | "setup.cfg" => Some(Role::Metadata),
        _ if packaging => None,
        _ => matches!(extension, "json" | "txt" | "yaml" | "yml").then_some(Role::Data),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets() {
        let limits =
            Limits { python_file: 10, data_file: 4, all_data: 6, total: 20, files: 4, members: 5, ..Limits::default() };
        let mut budget = Budget::new(limits);
        assert!(matches!(budget.take(Role::Python, 11), Err(Refusal::File(_))));
        assert_eq!(budget.take(Role::Python, 10), Ok(()));
        assert_eq!(budget.take(Role::Data, 4), Ok(()));
        assert!(matches!(budget.take(Role::Data, 3), Err(Refusal::File(_))));
        assert_eq!(budget.take(Role::Data, 2), Ok(()));
        assert_eq!(budget.take(Role::Python, 5), Err(Refusal::Source { limit: 20, what: "bytes of code" }));
        assert!((0..5).all(|_| budget.see().is_ok()));
        assert_eq!(budget.see(), Err(Refusal::Source { limit: 5, what: "members" }));
    }

    #[test]
    fn roles() {
        let cases = [
            ("timm/layers/drop.py", Some(Role::Python)),
            ("LICENSE", Some(Role::License)),
            ("third_party/x/Licence.txt", Some(Role::License)),
            ("LICENSE-APACHE", Some(Role::License)),
            ("COPYING.LESSER", None),
            ("license.py", Some(Role::Python)),
            ("timm-1.0.dist-info/licenses/AUTHORS", Some(Role::License)),
            ("timm-1.0.dist-info/METADATA", Some(Role::Metadata)),
            ("timm-1.0.dist-info/RECORD", None),
            ("timm-1.0.dist-info/top_level.txt", Some(Role::Metadata)),
            ("top_level.txt", Some(Role::Data)),
            ("PKG-INFO", Some(Role::Metadata)),
            ("pkg/METADATA", None),
            ("models/yolov5s.yaml", Some(Role::Data)),
            ("weights.bin", None),
            ("py", None),
        ];
        for (path, role) in cases {
            assert_eq!(role_of(path), role, "{path}");
        }
    }
}
