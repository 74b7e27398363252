//! The description of a cache entry: what was fetched, from where, and what it holds.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use netquarry_core::source::SourceKind;
use serde::{Deserialize, Serialize};

use crate::cache;
use crate::contents::{DESCRIPTION, PACK};
use crate::failure::FetchFailure;
use crate::inventory::Inventory;
use crate::pypi::release::Archive;
use crate::snapshot::Integrity;

/// Everything about a fetched source that does not depend on the corpus that asked for it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Description {
    pub(crate) kind: SourceKind,
    pub(crate) version: Option<String>,
    pub(crate) commit: Option<String>,
    /// Without credentials.
    pub(crate) url: Option<String>,
    pub(crate) integrity: Integrity,
    pub(crate) layout: StoredLayout,
    /// The size of the packed file; 0 where there is none.
    pub(crate) packed_bytes: u64,
    pub(crate) inventory: Inventory,
    /// When it was fetched, in seconds since 1970; `None` in what an earlier version fetched, and for what lies on this
    /// machine.
    #[serde(default)]
    pub(crate) fetched: Option<u64>,
}

/// The present moment as [`Description::fetched`] has it.
pub(crate) fn now() -> Option<u64> {
    SystemTime::now().duration_since(UNIX_EPOCH).ok().map(|time| time.as_secs())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StoredLayout {
    SitePackages,
    Repository,
}

impl StoredLayout {
    pub(crate) fn of(archive: Archive) -> Self {
        match archive {
            Archive::Wheel => Self::SitePackages,
            Archive::TarSdist | Archive::ZipSdist => Self::Repository,
        }
    }
}

impl Description {
    /// The description of a packed entry; `None` where there is no entry, or a torn one.
    pub(crate) fn of_entry(entry: &Path) -> Option<Self> {
        let description: Self = cache::read_json(&entry.join(DESCRIPTION))?;
        let bytes = std::fs::metadata(entry.join(PACK)).ok()?.len();
        (bytes == description.packed_bytes).then_some(description)
    }

    pub(crate) fn write(&self, entry: &Path) -> Result<(), FetchFailure> {
        cache::write_json(&entry.join(DESCRIPTION), self)
    }
}
