//! Whether a lock is what a project wants, and what one lock has that another has not.

use netquarry_plugin::api_version::ApiVersion;
use semver::{Version, VersionReq};

use crate::index::Permission;
use crate::lock::{Lock, LockedPlugin};
use crate::name::Request;
use crate::resolve::accepts;

/// One thing in which a lock and the wishes of a project differ.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Disagreement {
    #[error("`{0}` is wanted and not locked")]
    NotLocked(Request),
    #[error("`{request}` is wanted, and {version} is locked")]
    OtherVersion { request: Request, version: String },
    #[error("`{name}` is locked for hosts {wit}, and this one is {host}")]
    OtherHost { name: String, wit: String, host: ApiVersion },
    #[error("`{0}` is locked and nobody wants it")]
    NotWanted(String),
}

/// In what a lock and the wishes of a project differ; nothing where `--locked` may go on.
pub fn disagreements(lock: &Lock, wanted: &[Request]) -> Vec<Disagreement> {
    let mut found: Vec<Disagreement> = wanted.iter().filter_map(|request| disagreement(lock, request)).collect();
    let unwanted = lock.plugins().iter().filter(|plugin| wanted.iter().all(|request| request.name != plugin.name));
    found.extend(unwanted.map(|plugin| Disagreement::NotWanted(plugin.name.clone())));
    found
}

fn disagreement(lock: &Lock, request: &Request) -> Option<Disagreement> {
    let Some(locked) = lock.get(&request.name) else {
        return Some(Disagreement::NotLocked(request.clone()));
    };
    let version = Version::parse(&locked.version).expect("locks and indexes are checked");
    let wit = VersionReq::parse(&locked.wit).expect("locks and indexes are checked");
    // Who asks for no version in particular wants the one that is locked, be it a prerelease, which `*` matches not.
    if request.requirement != VersionReq::STAR && !request.requirement.matches(&version) {
        Some(Disagreement::OtherVersion { request: request.clone(), version: locked.version.clone() })
    } else if !accepts(&wit, ApiVersion::CURRENT) {
        let (name, wit) = (locked.name.clone(), locked.wit.clone());
        Some(Disagreement::OtherHost { name, wit, host: ApiVersion::CURRENT })
    } else {
        None
    }
}

/// What changes from one lock to another, each list sorted by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    pub added: Vec<LockedPlugin>,
    pub removed: Vec<LockedPlugin>,
    pub changed: Vec<Change>,
}

/// A plugin of which anything changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub before: LockedPlugin,
    pub after: LockedPlugin,
}

impl Change {
    /// What the plugin asks for now and did not before.
    pub fn grown_permissions(&self) -> Vec<&Permission> {
        self.after.permissions.iter().filter(|permission| !self.before.permissions.contains(permission)).collect()
    }

    /// Whether somebody else vouches for it now.
    pub fn has_another_voucher(&self) -> bool {
        self.before.voucher != self.after.voucher
    }
}

impl Difference {
    pub fn between(before: &Lock, after: &Lock) -> Self {
        let missing_in = |lock: &Lock, plugin: &LockedPlugin| lock.get(&plugin.name).is_none();
        let changed = after.plugins().iter().filter_map(|after| {
            let before = before.get(&after.name)?;
            (before != after).then(|| Change { before: before.clone(), after: after.clone() })
        });
        Self {
            added: after.plugins().iter().filter(|plugin| missing_in(before, plugin)).cloned().collect(),
            removed: before.plugins().iter().filter(|plugin| missing_in(after, plugin)).cloned().collect(),
            changed: changed.collect(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }

    /// Every permission that somebody has to grant now, by plugin: all of a new one, what is new of a changed one.
    pub fn new_permissions(&self) -> Vec<(&str, &Permission)> {
        let added = self
            .added
            .iter()
            .flat_map(|plugin| plugin.permissions.iter().map(|permission| (plugin.name.as_str(), permission)));
        let grown = self.changed.iter().flat_map(|change| {
            change.grown_permissions().into_iter().map(|permission| (change.after.name.as_str(), permission))
        });
        added.chain(grown).collect()
    }
}
