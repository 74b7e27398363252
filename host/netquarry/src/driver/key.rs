//! The digest of everything that the outputs of a run depend on.

use std::collections::BTreeMap;
use std::path::Path;

use netquarry_core::license::policy::Policy;
use netquarry_plugin::PluginIdentity;
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::fetch::Fetched;
use crate::configuration::{PluginOptions, Settings};
use crate::library::folder::hexadecimal;
use crate::library::reproduction::{Ingredients, digest};
use crate::problem::Problem;

/// What of the settings the outputs depend on.
#[derive(Serialize)]
struct Options<'a> {
    kept_imports: &'a [String],
    level: &'static str,
    gate: &'static str,
    licenses: &'a Policy,
    index: crate::arguments::IndexChoice,
    /// By the order in which they are asked.
    plugins: Vec<&'a str>,
    plugin_options: &'a PluginOptions,
    source_options: &'a BTreeMap<String, PluginOptions>,
    install: bool,
    requirements: &'a BTreeMap<String, String>,
}

#[derive(Serialize)]
struct Sources<'a> {
    corpus: &'a netquarry_corpus::corpus::Corpus,
    /// Name and identity of every snapshot.
    snapshots: Vec<(&'a str, &'a str)>,
    missing: Vec<&'a str>,
}

fn options<'a>(settings: &'a Settings, plugins: &[&'a PluginIdentity]) -> Options<'a> {
    Options {
        kept_imports: &settings.keep_imports,
        level: settings.level.name(),
        gate: settings.gate.name(),
        licenses: &settings.licenses,
        index: settings.index,
        plugins: plugins.iter().map(|plugin| plugin.name.as_str()).collect(),
        plugin_options: &settings.plugin_options,
        source_options: &settings.source_options,
        install: settings.install,
        requirements: &settings.requirements,
    }
}

fn sources(fetched: &Fetched) -> Sources<'_> {
    Sources {
        corpus: &fetched.corpus,
        snapshots: fetched
            .sources
            .iter()
            .map(|source| (source.snapshot.source.name.as_str(), source.snapshot.identity.as_str()))
            .collect(),
        missing: fetched.missing.iter().map(|source| source.name.as_str()).collect(),
    }
}

/// What a run is made of.
pub(super) fn ingredients(
    settings: &Settings,
    fetched: &Fetched,
    plugins: &[&PluginIdentity],
) -> Result<Ingredients, Problem> {
    let executable = std::env::current_exe().map_err(|error| Problem::io("find the program", Path::new("."), error))?;
    let host = std::fs::File::open(&executable).and_then(|mut file| {
        let mut hash = Sha256::new();
        std::io::copy(&mut file, &mut hash)?;
        Ok(hexadecimal(&hash.finalize()))
    });
    Ok(Ingredients {
        host: host.map_err(|error| Problem::io("read the program", &executable, error))?,
        components: plugins.iter().map(|plugin| (plugin.name.clone(), plugin.digest.clone())).collect(),
        configuration: digest(&options(settings, plugins)),
        corpus: digest(&sources(fetched)),
    })
}

/// Equal keys mean equal files. `environment` and `validation` are the digests of the environment and of the way in which
/// bundles are validated.
pub(super) fn key(
    settings: &Settings,
    fetched: &Fetched,
    plugins: &[&PluginIdentity],
    environment: &str,
    validation: &str,
) -> String {
    let components: Vec<&str> = plugins.iter().map(|plugin| plugin.digest.as_str()).collect();
    digest(&(program(), sources(fetched), options(settings, plugins), components, environment, validation))
}

/// The program itself: its version, and which build of it.
fn program() -> String {
    let build = std::env::current_exe().and_then(std::fs::metadata).ok().map(|metadata| {
        let modified = metadata.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        format!("{} {}", metadata.len(), modified.unwrap_or_default().as_nanos())
    });
    format!("{} {}", env!("CARGO_PKG_VERSION"), build.unwrap_or_default())
}
