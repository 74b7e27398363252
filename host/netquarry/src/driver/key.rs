//! The digest of everything that the outputs of a run depend on.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use netquarry_core::license::policy::Policy;
use netquarry_plugin::PluginIdentity;
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::fetch::Fetched;
use super::plugins::Plugins;
use crate::configuration::Settings;
use crate::library::folder::hexadecimal;
use crate::library::reproduction::{Ingredients, Way, digest};
use crate::problem::Problem;

/// What of the settings the blocks depend on, beside the plugins.
#[derive(Serialize)]
struct Options<'a> {
    kept_imports: &'a [String],
    level: &'static str,
    gate: &'static str,
    licenses: &'a Policy,
    index: crate::arguments::IndexChoice,
    install: bool,
    requirements: &'a BTreeMap<String, String>,
}

/// What the configuration says of some plugins.
#[derive(Serialize)]
struct Ordered<'a> {
    /// In the order in which they are asked.
    plugins: Vec<&'a str>,
    options: BTreeMap<&'a str, &'a Value>,
    options_of_sources: BTreeMap<&'a str, BTreeMap<&'a str, &'a Value>>,
}

#[derive(Serialize)]
struct Sources<'a> {
    corpus: &'a netquarry_corpus::corpus::Corpus,
    /// Name and identity of every snapshot.
    snapshots: Vec<(&'a str, &'a str)>,
    missing: Vec<&'a str>,
}

fn options(settings: &Settings) -> Options<'_> {
    Options {
        kept_imports: &settings.keep_imports,
        level: settings.level.name(),
        gate: settings.gate.name(),
        licenses: &settings.licenses,
        index: settings.index,
        install: settings.install,
        requirements: &settings.requirements,
    }
}

/// What the settings say of these plugins: the options of those whose names `is_meant` takes.
fn ordered<'a>(settings: &'a Settings, plugins: &[&'a PluginIdentity], is_meant: impl Fn(&str) -> bool) -> Ordered<'a> {
    let meant = |options: &'a BTreeMap<String, Value>| -> BTreeMap<&'a str, &'a Value> {
        options.iter().map(|(name, options)| (name.as_str(), options)).filter(|(name, _)| is_meant(name)).collect()
    };
    let of_sources = settings.source_options.iter().map(|(source, options)| (source.as_str(), meant(options)));
    Ordered {
        plugins: plugins.iter().map(|plugin| plugin.name.as_str()).collect(),
        options: meant(&settings.plugin_options),
        options_of_sources: of_sources.filter(|(_, options)| !options.is_empty()).collect(),
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
pub(super) fn ingredients(settings: &Settings, fetched: &Fetched, plugins: &Plugins) -> Result<Ingredients, Problem> {
    let executable = std::env::current_exe().map_err(|error| Problem::io("find the program", Path::new("."), error))?;
    let host = std::fs::File::open(&executable).and_then(|mut file| {
        let mut hash = Sha256::new();
        std::io::copy(&mut file, &mut hash)?;
        Ok(hexadecimal(&hash.finalize()))
    });
    let components = |plugins: &[&PluginIdentity]| {
        plugins.iter().map(|plugin| (plugin.name.clone(), plugin.digest.clone())).collect()
    };
    let (making, curating) = (plugins.of_blocks(), plugins.of_curation());
    // A plugin has its options under its own name, or under the one by which it is ordered.
    let of_curation: BTreeSet<&str> = [&settings.plugins.dedup, &settings.plugins.emit]
        .into_iter()
        .flatten()
        .map(String::as_str)
        .chain(curating.iter().map(|plugin| plugin.name.as_str()))
        .collect();
    let made_by = ordered(settings, &making, |name| !of_curation.contains(name));
    let curated_by = ordered(settings, &curating, |name| of_curation.contains(name));
    Ok(Ingredients {
        host: host.map_err(|error| Problem::io("read the program", &executable, error))?,
        corpus: digest(&sources(fetched)),
        blocks: Way { components: components(&making), configuration: digest(&(options(settings), made_by)) },
        curation: Way { components: components(&curating), configuration: digest(&curated_by) },
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
    let ordered = ordered(settings, plugins, |_| true);
    digest(&(program(), sources(fetched), options(settings), ordered, components, environment, validation))
}

/// The program itself: its version, and which build of it.
fn program() -> String {
    let build = std::env::current_exe().and_then(std::fs::metadata).ok().map(|metadata| {
        let modified = metadata.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        format!("{} {}", metadata.len(), modified.unwrap_or_default().as_nanos())
    });
    format!("{} {}", env!("CARGO_PKG_VERSION"), build.unwrap_or_default())
}
