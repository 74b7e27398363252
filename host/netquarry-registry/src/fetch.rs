//! From a version to its bytes: out of the program, the cache, a folder, a URL or an OCI registry.

use std::io;
use std::path::PathBuf;

use netquarry_plugin::first_party;

use crate::cache::{Cached, Content};
use crate::catalog::{Catalog, CatalogError, Network, Shelf};
use crate::digest::Pin;
use crate::files::read_bounded;
use crate::index::{IndexedPlugin, IndexedVersion};
use crate::location::Location;
use crate::lock::LockedPlugin;
use crate::notice::Notice;
use crate::oci;
use crate::resolve::{Resolved, resolved};
use crate::site::{Place, Site, inside};
use crate::transfer::Answer;
use crate::trust::{Subject, Trust, TrustError, Voucher, verify};

/// A component that is what its registry says.
#[derive(Clone, Debug)]
pub struct Fetched {
    pub component: Vec<u8>,
    pub voucher: Voucher,
}

/// Why there are no bytes that may be used.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    #[error(transparent)]
    Trust(#[from] TrustError),
    #[error("{what} cannot be had: {}; nothing of it was kept", failures.join("; "))]
    Nowhere { what: String, failures: Vec<String> },
    #[error(
        "{what} (SHA-256 {sha256}) is not in the cache {}, and the network is not to be used: fetch it once with it, or vendor \
         the plugins",
        cache.display()
    )]
    NotCached { what: String, sha256: String, cache: PathBuf },
    #[error("{} is damaged ({why}), and the network is not to be used: fetch {what} once with it", path.display())]
    Damaged { what: String, path: PathBuf, why: String },
    #[error("cannot write {}: {error}; make room or put the cache elsewhere", path.display())]
    Cache { path: PathBuf, error: io::Error },
    #[error(
        "{plugin} is locked from the registry `{registry}`, and no registry of the project has these bytes as that version: name \
         that registry in the configuration, or lock anew"
    )]
    NoRegistry { plugin: String, registry: String },
    #[error(
        "the registry `{registry}` has another golden pack of {plugin} than was locked (SHA-256 {found}, locked {locked}): a \
         published version never changes, so do not use it; ask whoever runs the registry"
    )]
    OtherGoldenPack { plugin: String, registry: String, locked: String, found: String },
}

/// A file, where it may lie and what it must be.
struct Wanted<'a> {
    /// For messages: name and version.
    what: String,
    content: Content,
    pin: &'a Pin,
    location: &'a Location,
    sites: &'a [Site],
}

impl Catalog<'_> {
    /// The component, checked against digest, size and signature. `trust` and the registry's `allow-unsigned` both allow
    /// what nobody has signed.
    ///
    /// # Errors
    /// If no place has these bytes, or nobody vouches for them.
    pub fn fetch(&self, resolved: &Resolved, trust: Trust) -> Result<Fetched, FetchError> {
        let shelf = self.shelf(&resolved.registry).expect("it was resolved from a registry of this catalog");
        let component = self.retrieve(&Wanted {
            what: format!("{} {}", resolved.name, resolved.version),
            content: Content::Component,
            pin: &resolved.pin,
            location: &resolved.location,
            sites: &shelf.registry.sites,
        })?;
        if matches!(resolved.location, Location::Embedded(_)) {
            return Ok(Fetched { component, voucher: Voucher::BuiltIn });
        }
        let subject = Subject { name: &resolved.name, version: &resolved.version, component: &component };
        let trust = if shelf.registry.allow_unsigned { Trust::AllowUnsigned } else { trust };
        let voucher = verify(subject, resolved.signature.as_deref(), &self.keys(shelf)?, trust)?;
        Ok(Fetched { component, voucher })
    }

    /// The golden pack of a version, where it has one.
    ///
    /// # Errors
    /// If no place has these bytes.
    pub fn fetch_golden(&self, resolved: &Resolved) -> Result<Option<Vec<u8>>, FetchError> {
        let shelf = self.shelf(&resolved.registry).expect("it was resolved from a registry of this catalog");
        let Some(golden) = &resolved.golden else { return Ok(None) };
        let wanted = Wanted {
            what: format!("the golden pack of {} {}", resolved.name, resolved.version),
            content: Content::GoldenPack,
            pin: &golden.pin(),
            location: &golden.location,
            sites: &shelf.registry.sites,
        };
        self.retrieve(&wanted).map(Some)
    }

    /// The component that is locked. What the lock records was checked when it was locked, so no index is needed where the
    /// cache has the bytes or their registry is configured.
    ///
    /// # Errors
    /// If no place has these bytes, or the project's keys are no longer those that vouched for them.
    pub fn fetch_locked(&self, locked: &LockedPlugin) -> Result<Vec<u8>, FetchError> {
        let what = locked.to_string();
        if let Some(shelf) = self.shelf(&locked.registry) {
            still_trusted(shelf, locked)?;
            return self.retrieve(&Wanted {
                what,
                content: Content::Component,
                pin: &locked.pin,
                location: &locked.location,
                sites: &shelf.registry.sites,
            });
        }
        let (shelf, _, version) = self.origin(locked)?;
        still_trusted(shelf, locked)?;
        self.retrieve(&Wanted {
            what,
            content: Content::Component,
            pin: &locked.pin,
            location: &version.location,
            sites: &shelf.registry.sites,
        })
    }

    /// What the index of its registry says of a locked plugin, or of another registry with the same bytes where the project
    /// no longer has that one: a vendored folder, say.
    ///
    /// # Errors
    /// If no registry has these bytes as that version, or has them with another golden pack, or one cannot be read.
    pub fn entry(&self, locked: &LockedPlugin) -> Result<(&IndexedPlugin, Resolved), FetchError> {
        let (shelf, plugin, version) = self.origin(locked)?;
        let resolved = resolved(&locked.name, &shelf.registry.name, plugin, version);
        let digest = |golden: Option<&String>| golden.map_or("none", String::as_str).to_owned();
        let found = resolved.golden.as_ref().map(|golden| &golden.sha256);
        if found != locked.golden.as_ref() {
            let (plugin, registry) = (locked.to_string(), resolved.registry);
            let (locked, found) = (digest(locked.golden.as_ref()), digest(found));
            return Err(FetchError::OtherGoldenPack { plugin, registry, locked, found });
        }
        Ok((plugin, resolved))
    }

    /// Why the locked version was yanked since; nothing where it was not, or where its registry does not say.
    pub fn yanked(&self, locked: &LockedPlugin) -> Option<&str> {
        let (_, _, version) = self.origin(locked).ok()?;
        version.yanked.as_deref()
    }

    fn origin(&self, locked: &LockedPlugin) -> Result<(&Shelf, &IndexedPlugin, &IndexedVersion), FetchError> {
        let configured = self.shelf(&locked.registry);
        let others = self.asked_for(&locked.name).filter(|_| configured.is_none());
        for shelf in configured.into_iter().chain(others) {
            let Some(plugin) = self.index_of(shelf)?.plugins.get(&locked.name) else { continue };
            let is_locked = |version: &&IndexedVersion| {
                version.version == locked.version && version.pin().as_ref() == Some(&locked.pin)
            };
            if let Some(version) = plugin.versions.iter().find(is_locked) {
                return Ok((shelf, plugin, version));
            }
        }
        Err(FetchError::NoRegistry { plugin: locked.to_string(), registry: locked.registry.clone() })
    }

    fn retrieve(&self, wanted: &Wanted<'_>) -> Result<Vec<u8>, FetchError> {
        if let Location::Embedded(name) = wanted.location {
            return embedded(name, wanted);
        }
        let mut damaged = None;
        match self.cache.find(wanted.content, wanted.pin) {
            Cached::Whole(bytes) => return Ok(bytes),
            Cached::Nothing => {}
            Cached::Damaged { path, why } => damaged = Some((path, why)),
        }
        if self.access.network == Network::Online
            && let Some((path, why)) = damaged.take()
        {
            (self.notify)(&Notice::DamagedCache { path, why });
        }
        let mut failures: Vec<String> = Vec::new();
        let mut asked: Vec<Place> = Vec::new();
        for site in wanted.sites {
            let place = match site.place(wanted.location) {
                Ok(place) if asked.contains(&place) => continue,
                Ok(place) => place,
                Err(why) => {
                    failures.push(why);
                    continue;
                }
            };
            let is_local = matches!(place, Place::File { .. });
            if is_local || self.access.network == Network::Online {
                match self.read(&place, wanted.pin) {
                    Ok(bytes) => {
                        if let Some(why) = failures.last() {
                            (self.notify)(&Notice::Elsewhere { why: why.clone(), instead: place.to_string() });
                        }
                        if !is_local {
                            let kept = self.cache.keep(wanted.content, wanted.pin, &bytes);
                            kept.map_err(|(path, error)| FetchError::Cache { path, error })?;
                        }
                        return Ok(bytes);
                    }
                    Err(why) => failures.push(why),
                }
            }
            asked.push(place);
        }
        let what = wanted.what.clone();
        if let Some((path, why)) = damaged {
            return Err(FetchError::Damaged { what, path, why });
        }
        if failures.is_empty() {
            let (sha256, cache) = (wanted.pin.sha256.clone(), self.access.cache.clone());
            return Err(FetchError::NotCached { what, sha256, cache });
        }
        Err(FetchError::Nowhere { what, failures })
    }

    /// The bytes at a place, or why they are not those of the pin. Never more of them than it promises.
    fn read(&self, place: &Place, pin: &Pin) -> Result<Vec<u8>, String> {
        let bytes = match place {
            Place::Embedded(_) => unreachable!("handled before any place is asked"),
            Place::File { folder, path } => {
                let file = inside(folder, path)?;
                read_bounded(&file, pin.size).map_err(|error| format!("cannot read {place}: {error}"))?
            }
            Place::Url(url) => {
                let client = self.client().map_err(|error| error.to_string())?;
                match client.get(url, pin.size, None, self.notify).map_err(|error| error.to_string())? {
                    Answer::Body { bytes, .. } => bytes,
                    Answer::NotModified => unreachable!("no entity tag was sent"),
                }
            }
            Place::Oci { reference, .. } => {
                oci::pull(reference, pin, self.access.patience).map_err(|why| format!("{place}: {why}"))?
            }
        };
        pin.check(&bytes).map_err(|why| format!("{place} is not what the registry means: {why}; do not use it"))?;
        Ok(bytes)
    }
}

fn embedded(name: &str, wanted: &Wanted<'_>) -> Result<Vec<u8>, FetchError> {
    let found = first_party().iter().find(|component| component.name == name);
    let failure = |why: String| FetchError::Nowhere { what: wanted.what.clone(), failures: vec![why] };
    let component = found.ok_or_else(|| failure(format!("this program has no component `{name}`; lock anew")))?;
    let (what, bytes) = match wanted.content {
        Content::Component => ("component", Some(component.bytes)),
        Content::GoldenPack => ("golden pack", component.golden.map(str::as_bytes)),
    };
    let bytes = bytes.ok_or_else(|| failure(format!("this program has no {what} of `{name}`")))?;
    wanted.pin.check(bytes).map_err(|why| {
        failure(format!(
            "the {what} in this program is another one: {why}; lock anew, or use the program it was locked with"
        ))
    })?;
    Ok(bytes.to_vec())
}

/// Keys in the project's configuration hold for what is locked already: one that was taken away vouches for nothing.
fn still_trusted(shelf: &Shelf, locked: &LockedPlugin) -> Result<(), TrustError> {
    let keys: Vec<String> = shelf.registry.keys.iter().map(|key| key.id().to_owned()).collect();
    if keys.is_empty() {
        return Ok(());
    }
    let plugin = locked.to_string();
    match &locked.voucher {
        Voucher::BuiltIn => Ok(()),
        Voucher::Key(signer) if keys.contains(signer) => Ok(()),
        Voucher::Key(signer) => Err(TrustError::OtherKey { plugin, signer: signer.clone(), keys }),
        Voucher::Nobody => Err(TrustError::NotSigned { plugin, keys }),
    }
}
