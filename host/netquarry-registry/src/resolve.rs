//! From a wish to a version of a registry.

use netquarry_plugin::Kind;
use netquarry_plugin::api_version::ApiVersion;
use semver::{Version, VersionReq};

use crate::catalog::{Catalog, CatalogError};
use crate::digest::Pin;
use crate::index::{GoldenPack, IndexedPlugin, IndexedVersion, Permission};
use crate::location::Location;
use crate::lock::LockedPlugin;
use crate::name::{FIRST_PARTY, Request};
use crate::notice::Notice;

/// How many names are suggested, and how alike they must be.
const MOST_SUGGESTIONS: usize = 3;
const ALIKE: f64 = 0.75;

/// A version that fits a wish, and where it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    pub name: String,
    pub version: String,
    pub kind: Kind,
    /// The name of the registry.
    pub registry: String,
    pub location: Location,
    pub pin: Pin,
    /// On which hosts it runs.
    pub wit: String,
    pub permissions: Vec<Permission>,
    pub golden: Option<GoldenPack>,
    pub signature: Option<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    #[error("no plugin is called `{name}` in {}{}", asked.join(", "), suggestion(nearest))]
    Unknown { name: String, asked: Vec<String>, nearest: Vec<String> },
    #[error(
        "no version of `{}` in the registry `{registry}` {}: {}", request.name, wish(request), rejections(rejected)
    )]
    NoVersion { request: Request, registry: String, rejected: Vec<Rejected> },
    #[error(
        "the registry `{registry}` has other bytes for {name} {version} than were locked (SHA-256 {found}, locked {locked}): a \
         published version never changes, so do not use it; ask whoever runs the registry"
    )]
    Changed { name: String, version: String, registry: String, locked: String, found: String },
}

/// A version that was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    pub version: String,
    pub why: Rejection,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    #[error("not what was asked for")]
    OtherVersion,
    #[error("a prerelease, which has to be asked for by its version")]
    Prerelease,
    #[error("yanked: {0}")]
    Yanked(String),
    #[error("for hosts {wit}, and this one is {host}")]
    OtherHost { wit: String, host: ApiVersion },
    #[error("not built")]
    NotBuilt,
}

fn suggestion(nearest: &[String]) -> String {
    match nearest {
        [] => "; `netquarry plugin search` lists what there is".to_owned(),
        names => format!("; did you mean {}?", names.join(" or ")),
    }
}

/// What no version is or does.
fn wish(request: &Request) -> String {
    match request.requirement == VersionReq::STAR {
        true => "can be used here".to_owned(),
        false => format!("fits {}", request.requirement),
    }
}

fn rejections(rejected: &[Rejected]) -> String {
    if rejected.is_empty() {
        return "it has none".to_owned();
    }
    let each = rejected.iter().map(|Rejected { version, why }| format!("{version} ({why})"));
    each.collect::<Vec<_>>().join(", ")
}

impl Catalog<'_> {
    /// The newest version that fits, is not yanked and runs on this host, from the first registry that has the name.
    ///
    /// # Errors
    /// If no registry has the name, none of its versions will do, or a registry cannot be read: one that is passed over
    /// might be the one that was meant.
    pub fn resolve(&self, request: &Request) -> Result<Resolved, ResolveError> {
        self.newest(request, |version| reject(version, &request.requirement))
    }

    /// The newest version that is to take the place of a locked one. Who has locked a prerelease goes on with prereleases.
    ///
    /// # Errors
    /// As [`Catalog::resolve`], and if the registry has other bytes for the locked version.
    pub fn resolve_update(&self, locked: &LockedPlugin) -> Result<Resolved, ResolveError> {
        let request = Request { name: locked.name.clone(), requirement: VersionReq::STAR };
        let is_prerelease = !Version::parse(&locked.version).expect("locks are checked").pre.is_empty();
        let resolved = self.newest(&request, |version| match reject(version, &VersionReq::STAR) {
            Some(Rejection::Prerelease) if is_prerelease => unusable(version),
            rejection => rejection,
        })?;
        unchanged(resolved, locked)
    }

    /// The newest version for which nothing is said against it.
    fn newest(
        &self,
        request: &Request,
        reject: impl Fn(&IndexedVersion) -> Option<Rejection>,
    ) -> Result<Resolved, ResolveError> {
        let (registry, plugin) = self.find(&request.name)?;
        let mut rejected = Vec::new();
        for version in plugin.versions.iter().rev() {
            match reject(version) {
                None => return Ok(resolved(&request.name, registry, plugin, version)),
                Some(why) => rejected.push(Rejected { version: version.version.clone(), why }),
            }
        }
        Err(ResolveError::NoVersion { request: request.clone(), registry: registry.to_owned(), rejected })
    }

    /// As [`Catalog::resolve`], but what is locked stays as long as it fits, even where it was yanked since.
    ///
    /// # Errors
    /// As [`Catalog::resolve`], and if the registry has other bytes for the locked version.
    pub fn resolve_locked(&self, request: &Request, locked: &LockedPlugin) -> Result<Resolved, ResolveError> {
        let (registry, plugin) = self.find(&request.name)?;
        let same = |version: &&IndexedVersion| version.version == locked.version && registry == locked.registry;
        let Some(version) = plugin.versions.iter().find(same) else { return self.resolve(request) };
        let rejection = match reject(version, &request.requirement) {
            // It was asked for when it was locked.
            Some(Rejection::Prerelease) => unusable(version),
            rejection => rejection,
        };
        match rejection {
            None => {}
            Some(Rejection::Yanked(reason)) => {
                let plugin = format!("{} {}", request.name, version.version);
                (self.notify)(&Notice::Yanked { plugin, reason });
            }
            Some(
                Rejection::OtherVersion | Rejection::Prerelease | Rejection::OtherHost { .. } | Rejection::NotBuilt,
            ) => return self.resolve(request),
        }
        unchanged(resolved(&request.name, registry, plugin, version), locked)
    }

    /// The plugin of that name, and the registry from which it is taken.
    ///
    /// # Errors
    /// If there is none, or a registry that might have it cannot be read.
    pub fn find(&self, name: &str) -> Result<(&str, &IndexedPlugin), ResolveError> {
        let mut shelves = self.asked_for(name);
        while let Some(shelf) = shelves.next() {
            let Some(plugin) = self.index_of(shelf)?.plugins.get(name) else { continue };
            let taken = &shelf.registry.name;
            let mut others = Vec::new();
            for other in shelves {
                match self.index_of(other) {
                    Ok(index) if index.plugins.contains_key(name) => others.push(other.registry.name.clone()),
                    Ok(_) => {}
                    Err(error) => {
                        let registry = other.registry.name.clone();
                        (self.notify)(&Notice::NotAsked { registry, why: error.to_string() });
                    }
                }
            }
            if !others.is_empty() {
                let (name, taken) = (name.to_owned(), taken.clone());
                (self.notify)(&Notice::AlsoIn { name, taken, others });
            }
            return Ok((taken, plugin));
        }
        Err(self.unknown(name)?)
    }

    fn unknown(&self, name: &str) -> Result<ResolveError, CatalogError> {
        let mut asked = Vec::new();
        let mut nearest: Vec<(f64, &String)> = Vec::new();
        for shelf in self.asked_for(name) {
            asked.push(format!("`{}`", shelf.registry.name));
            let names = self.index_of(shelf)?.plugins.keys();
            nearest.extend(names.map(|known| (strsim::jaro_winkler(name, known), known)));
        }
        nearest.retain(|(likeness, _)| *likeness >= ALIKE);
        nearest.sort_by(|left, right| right.0.total_cmp(&left.0).then_with(|| left.1.cmp(right.1)));
        let mut nearest: Vec<String> = nearest.into_iter().map(|(_, known)| format!("`{known}`")).collect();
        nearest.dedup();
        nearest.truncate(MOST_SUGGESTIONS);
        Ok(ResolveError::Unknown { name: name.to_owned(), asked, nearest })
    }
}

/// Why a version will not do; nothing where it will.
fn reject(version: &IndexedVersion, requirement: &VersionReq) -> Option<Rejection> {
    let parsed = Version::parse(&version.version).expect("the index was checked");
    if requirement.matches(&parsed) {
        unusable(version)
    } else if *requirement == VersionReq::STAR {
        // No requirement without a version has one match a prerelease.
        Some(Rejection::Prerelease)
    } else {
        Some(Rejection::OtherVersion)
    }
}

/// Why a version will not do whatever was asked for; nothing where it will.
fn unusable(version: &IndexedVersion) -> Option<Rejection> {
    let wit = VersionReq::parse(&version.wit).expect("the index was checked");
    if !accepts(&wit, ApiVersion::CURRENT) {
        Some(Rejection::OtherHost { wit: version.wit.clone(), host: ApiVersion::CURRENT })
    } else if version.pin().is_none() {
        Some(Rejection::NotBuilt)
    } else {
        version.yanked.clone().map(Rejection::Yanked)
    }
}

/// The newest version of a plugin that [`Catalog::resolve`] would take for its bare name.
pub fn newest(plugin: &IndexedPlugin) -> Option<&IndexedVersion> {
    plugin.versions.iter().rev().find(|version| reject(version, &VersionReq::STAR).is_none())
}

/// What was resolved, unless it is the locked version of the same registry with other bytes.
///
/// # Errors
/// If it is.
pub fn unchanged(resolved: Resolved, locked: &LockedPlugin) -> Result<Resolved, ResolveError> {
    let is_same = (&resolved.registry, &resolved.version) == (&locked.registry, &locked.version);
    // First-party components come with the program: another build of it may have others of the same version.
    if is_same && resolved.pin != locked.pin && resolved.registry != FIRST_PARTY {
        return Err(ResolveError::Changed {
            name: resolved.name,
            version: resolved.version,
            registry: resolved.registry,
            locked: locked.pin.sha256.clone(),
            found: resolved.pin.sha256,
        });
    }
    Ok(resolved)
}

/// Whether a component with this requirement runs on a host of that version.
pub(crate) fn accepts(wit: &VersionReq, host: ApiVersion) -> bool {
    wit.matches(&Version::new(host.major.into(), host.minor.into(), host.patch.into()))
}

pub(crate) fn resolved(name: &str, registry: &str, plugin: &IndexedPlugin, version: &IndexedVersion) -> Resolved {
    Resolved {
        name: name.to_owned(),
        version: version.version.clone(),
        kind: plugin.kind,
        registry: registry.to_owned(),
        location: version.location.clone(),
        pin: version.pin().expect("a version without is rejected"),
        wit: version.wit.clone(),
        permissions: version.permissions.clone(),
        golden: version.golden.clone(),
        signature: version.signature.clone(),
    }
}
