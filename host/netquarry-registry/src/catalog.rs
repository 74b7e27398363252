//! The indexes of a project's registries, each read when it is first needed.

use std::cell::OnceCell;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use netquarry_plugin::first_party_registry;
use reqwest::Url;

use crate::cache::Cache;
use crate::files::read_bounded;
use crate::index::{Index, IndexedPlugin};
use crate::name::{FIRST_PARTY, is_first_party};
use crate::notice::{Notice, Notify};
use crate::parse::{IndexError, parse, parse_first_party};
use crate::publish::keys;
use crate::settings::{Registries, Registry};
use crate::site::Site;
use crate::transfer::{Answer, Client, TransferError};
use crate::trust::PublicKey;

/// No index is larger.
const INDEX_LIMIT: u64 = 64 << 20;

/// How the world is reached.
#[derive(Clone, Debug)]
pub struct Access {
    /// The folder of the cache.
    pub cache: PathBuf,
    pub network: Network,
    /// For connecting, and for every read by itself.
    pub patience: Duration,
    /// Before a second attempt.
    pub back_off: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    Online,
    /// The cache and local files only.
    Offline,
}

impl Access {
    pub fn new(cache: &Path, network: Network) -> Self {
        let (patience, back_off) = (Duration::from_secs(30), Duration::from_secs(1));
        Self { cache: cache.to_path_buf(), network, patience, back_off }
    }
}

/// All registries of a project, the first-party one last.
pub struct Catalog<'a> {
    pub(crate) shelves: Vec<Shelf>,
    pub(crate) access: Access,
    pub(crate) cache: Cache,
    pub(crate) notify: Notify<'a>,
    client: OnceCell<Client>,
}

/// A registry, and its index once it was read.
pub(crate) struct Shelf {
    pub(crate) registry: Registry,
    index: OnceCell<Index>,
}

/// Why there is no index.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    #[error("the registry `{registry}` cannot be read: {source}")]
    Index { registry: String, source: IndexError },
    #[error("the registry `{registry}` does not answer: {}", failures.join("; "))]
    NoAnswer { registry: String, failures: Vec<String> },
    #[error(
        "the index of the registry `{registry}` ({location}) is not in the cache {}, or damaged there, and the network is not \
         to be used: run once with it, or name a vendored folder",
        cache.display()
    )]
    NotCached { registry: String, location: String, cache: PathBuf },
    #[error("no registry is called `{name}`; there are {}", known.join(", "))]
    NoSuchRegistry { name: String, known: Vec<String> },
    #[error("cannot write {}: {error}; make room or put the cache elsewhere", path.display())]
    Cache { path: PathBuf, error: io::Error },
}

/// A plugin of some registry.
#[derive(Clone, Copy, Debug)]
pub struct Listed<'catalog> {
    pub registry: &'catalog str,
    pub name: &'catalog str,
    pub plugin: &'catalog IndexedPlugin,
}

impl<'a> Catalog<'a> {
    /// Reads nothing yet. `notify` hears what a user should know although it is no error.
    pub fn new(registries: Registries, access: Access, notify: Notify<'a>) -> Self {
        let first_party = Registry {
            name: FIRST_PARTY.to_owned(),
            prefixes: Vec::new(),
            sites: Vec::new(),
            keys: Vec::new(),
            allow_unsigned: false,
        };
        let shelves = registries.list.into_iter().chain([first_party]);
        let shelves = shelves.map(|registry| Shelf { registry, index: OnceCell::new() }).collect();
        let cache = Cache::new(&access.cache);
        Self { shelves, access, cache, notify, client: OnceCell::new() }
    }

    /// The names of the registries in order.
    pub fn registries(&self) -> impl Iterator<Item = &str> {
        self.shelves.iter().map(|shelf| shelf.registry.name.as_str())
    }

    /// The index of a registry by its name.
    ///
    /// # Errors
    /// If there is no such registry, or it cannot be read.
    pub fn index(&self, registry: &str) -> Result<&Index, CatalogError> {
        let shelf = self.shelf(registry).ok_or_else(|| CatalogError::NoSuchRegistry {
            name: registry.to_owned(),
            known: self.registries().map(str::to_owned).collect(),
        })?;
        self.index_of(shelf)
    }

    /// All plugins of all registries in whose name or summary the words stand, in the order of the registries and by name;
    /// and why registries could not be looked into.
    pub fn search(&self, words: &str) -> (Vec<Listed<'_>>, Vec<CatalogError>) {
        let words = words.to_lowercase();
        let is_hit = |name: &str, plugin: &IndexedPlugin| {
            words.split_whitespace().all(|word| name.contains(word) || plugin.summary.to_lowercase().contains(word))
        };
        let (mut found, mut failures) = (Vec::new(), Vec::new());
        for shelf in &self.shelves {
            let index = match self.index_of(shelf) {
                Ok(index) => index,
                Err(error) => {
                    failures.push(error);
                    continue;
                }
            };
            for (name, plugin) in &index.plugins {
                if self.asked_for(name).any(|other| std::ptr::eq(other, shelf)) && is_hit(name, plugin) {
                    found.push(Listed { registry: &shelf.registry.name, name, plugin });
                }
            }
        }
        (found, failures)
    }

    pub(crate) fn shelf(&self, registry: &str) -> Option<&Shelf> {
        self.shelves.iter().find(|shelf| shelf.registry.name == registry)
    }

    /// The registries in which a name is looked up. What the program has itself is looked up nowhere else: a run takes such
    /// a name from the program, whatever the registries say. Of any other name, where some claim it by a prefix only those,
    /// else those without prefixes.
    pub(crate) fn asked_for(&self, name: &str) -> impl Iterator<Item = &Shelf> {
        let is_own = is_first_party(name);
        let claimed = self.shelves.iter().any(|shelf| shelf.registry.claims(name));
        self.shelves.iter().filter(move |Shelf { registry, .. }| match (is_own, claimed) {
            (true, _) => registry.name == FIRST_PARTY,
            (false, true) => registry.claims(name),
            (false, false) => registry.prefixes.is_empty(),
        })
    }

    /// The keys that sign the versions of a registry.
    pub(crate) fn keys(&self, shelf: &Shelf) -> Result<Vec<PublicKey>, CatalogError> {
        if !shelf.registry.keys.is_empty() {
            return Ok(shelf.registry.keys.clone());
        }
        Ok(keys(self.index_of(shelf)?))
    }

    pub(crate) fn index_of<'shelf>(&self, shelf: &'shelf Shelf) -> Result<&'shelf Index, CatalogError> {
        if let Some(index) = shelf.index.get() {
            return Ok(index);
        }
        let name = &shelf.registry.name;
        let unreadable = |source| CatalogError::Index { registry: name.clone(), source };
        let index = if shelf.registry.sites.is_empty() {
            parse_first_party(first_party_registry(), "the registry in the program").map_err(unreadable)?
        } else {
            let (text, site) = self.text(&shelf.registry)?;
            parse(&text, &site.to_string()).map_err(unreadable)?
        };
        Ok(shelf.index.get_or_init(|| index))
    }

    /// The text of an index from the first of its places that answers.
    fn text<'registry>(&self, registry: &'registry Registry) -> Result<(String, &'registry Site), CatalogError> {
        let mut failures: Vec<String> = Vec::new();
        for site in &registry.sites {
            let text = match site {
                Site::File(path) => local_index(path),
                Site::Url(url) if self.access.network == Network::Offline => {
                    let kept = self.cache.index(url, INDEX_LIMIT).filter(|text| parse(text, "").is_ok());
                    kept.ok_or_else(|| format!("{site} is not in the cache, or damaged there"))
                }
                Site::Url(url) => match self.remote_index(url) {
                    Err(RemoteError::Transfer(error)) => Err(error.to_string()),
                    Err(RemoteError::Cache(path, error)) => return Err(CatalogError::Cache { path, error }),
                    Ok(text) => Ok(text),
                },
            };
            match text {
                Ok(text) => {
                    if let Some(why) = failures.last().filter(|_| self.access.network == Network::Online) {
                        (self.notify)(&Notice::Elsewhere { why: why.clone(), instead: site.to_string() });
                    }
                    return Ok((text, site));
                }
                Err(why) => failures.push(why),
            }
        }
        let registry_name = registry.name.clone();
        match registry.sites.first() {
            Some(site @ Site::Url(_)) if self.access.network == Network::Offline => Err(CatalogError::NotCached {
                registry: registry_name,
                location: site.to_string(),
                cache: self.access.cache.clone(),
            }),
            _ => Err(CatalogError::NoAnswer { registry: registry_name, failures }),
        }
    }

    /// From its URL, or from the cache where the server says that this is the same.
    fn remote_index(&self, url: &Url) -> Result<String, RemoteError> {
        let known = self.cache.index(url, INDEX_LIMIT);
        let etag = known.as_ref().and_then(|text| self.cache.entity_tag(url, text));
        let client = self.client().map_err(RemoteError::Transfer)?;
        match client.get(url, INDEX_LIMIT, etag.as_deref(), self.notify).map_err(RemoteError::Transfer)? {
            Answer::NotModified => Ok(known.expect("without a text in the cache no entity tag was sent")),
            Answer::Body { bytes, etag } => {
                // What is not even text is shown as far as it goes; the parser says what is wrong.
                let text = String::from_utf8_lossy(&bytes).into_owned();
                // What cannot be read now would stand in the way of working offline with what could be read before.
                if parse(&text, "").is_ok() {
                    self.cache.keep_index(url, &text, etag).map_err(|(path, error)| RemoteError::Cache(path, error))?;
                }
                Ok(text)
            }
        }
    }

    pub(crate) fn client(&self) -> Result<&Client, TransferError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let client = Client::new(self.access.patience, self.access.back_off)?;
        Ok(self.client.get_or_init(|| client))
    }
}

enum RemoteError {
    Transfer(TransferError),
    Cache(PathBuf, io::Error),
}

fn local_index(path: &Path) -> Result<String, String> {
    let failure = |why: &dyn std::fmt::Display| format!("cannot read {}: {why}; check the path", path.display());
    let bytes = read_bounded(path, INDEX_LIMIT).map_err(|error| failure(&error))?;
    String::from_utf8(bytes).map_err(|error| failure(&error))
}
