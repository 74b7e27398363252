//! The registries of a project, as its configuration names them.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::name::{FIRST_PARTY, check_name};
use crate::site::Site;
use crate::trust::PublicKey;

/// One `[[registries]]` in `netquarry.toml`. The order of these is the order in which they are asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RegistrySettings {
    /// By which the project and its lock mention the registry.
    pub name: String,
    /// The URL or the path of a `registry.json`, or of the folder that holds one.
    pub location: String,
    /// Not empty: only plugins whose names start with one of these are looked up here, and they are looked up in no
    /// registry that does not claim them. The names of the program's own plugins cannot be claimed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prefixes: Vec<String>,
    /// Tried in turn where the location does not answer. Digests hold all the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mirrors: Vec<String>,
    /// Minisign public keys to trust instead of those that the registry names itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<String>,
    /// Whether plugins of this registry may run although nobody has signed them. Only of a registry without keys.
    #[serde(default)]
    pub allow_unsigned: bool,
}

/// What is wrong with the registries of a project.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    #[error("registries[{number}].name: {why}")]
    Name { number: usize, why: String },
    #[error("registries[{number}].name: `{FIRST_PARTY}` is the registry in the program; choose another name")]
    Reserved { number: usize },
    #[error("registries[{number}].name: there are two registries `{name}`; give one another name")]
    Twice { number: usize, name: String },
    #[error("registries[{number}].{field}: {why}")]
    Field { number: usize, field: String, why: String },
}

/// Registries of which all holds that the configuration promises.
#[derive(Clone, Debug, Default)]
pub struct Registries {
    pub(crate) list: Vec<Registry>,
}

#[derive(Clone, Debug)]
pub(crate) struct Registry {
    pub(crate) name: String,
    pub(crate) prefixes: Vec<String>,
    /// The location, then the mirrors.
    pub(crate) sites: Vec<Site>,
    /// Not empty: instead of those of the index.
    pub(crate) keys: Vec<PublicKey>,
    pub(crate) allow_unsigned: bool,
}

impl Registries {
    /// Relative paths start at `folder`, that of the configuration.
    ///
    /// # Errors
    /// If a name, a location, a prefix or a key is none.
    pub fn new(settings: &[RegistrySettings], folder: &Path) -> Result<Self, SettingsError> {
        let mut list: Vec<Registry> = Vec::new();
        for (number, settings) in settings.iter().enumerate() {
            check_name(&settings.name).map_err(|why| SettingsError::Name { number, why })?;
            if settings.name == FIRST_PARTY {
                return Err(SettingsError::Reserved { number });
            }
            if list.iter().any(|other| other.name == settings.name) {
                return Err(SettingsError::Twice { number, name: settings.name.clone() });
            }
            list.push(registry(settings, folder).map_err(|(field, why)| SettingsError::Field {
                number,
                field,
                why,
            })?);
        }
        Ok(Self { list })
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(|registry| registry.name.as_str())
    }
}

fn registry(settings: &RegistrySettings, folder: &Path) -> Result<Registry, (String, String)> {
    let location = Site::parse(&settings.location, folder).map_err(|why| ("location".to_owned(), why))?;
    let mut sites = vec![location];
    for (number, mirror) in settings.mirrors.iter().enumerate() {
        sites.push(Site::parse(mirror, folder).map_err(|why| (format!("mirrors[{number}]"), why))?);
    }
    for (number, prefix) in settings.prefixes.iter().enumerate() {
        check_name(prefix).map_err(|why| (format!("prefixes[{number}]"), why))?;
    }
    let key = |(number, key): (usize, &String)| PublicKey::parse(key).map_err(|why| (format!("keys[{number}]"), why));
    Ok(Registry {
        name: settings.name.clone(),
        prefixes: settings.prefixes.clone(),
        sites,
        keys: settings.keys.iter().enumerate().map(key).collect::<Result<_, _>>()?,
        allow_unsigned: settings.allow_unsigned,
    })
}

impl Registry {
    /// Whether one of the registry's prefixes is how the name starts.
    pub(crate) fn claims(&self, name: &str) -> bool {
        self.prefixes.iter().any(|prefix| name.starts_with(prefix.as_str()))
    }
}
