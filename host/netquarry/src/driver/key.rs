//! The digest of everything that the outputs of a run depend on.

use netquarry_core::license::policy::Policy;
use netquarry_plugin::PluginIdentity;
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::fetch::Fetched;
use crate::configuration::Settings;
use crate::library::folder::hexadecimal;

#[derive(Serialize)]
struct Inputs<'a> {
    program: String,
    corpus: &'a netquarry_corpus::corpus::Corpus,
    /// Name and identity of every snapshot.
    snapshots: Vec<(&'a str, &'a str)>,
    missing: Vec<&'a str>,
    kept_imports: &'a [String],
    level: &'static str,
    gate: &'static str,
    licenses: &'a Policy,
    index: crate::arguments::IndexChoice,
    /// Name and digest of every plugin, by the order in which they are asked.
    plugins: Vec<(&'a str, &'a str)>,
    plugin_options: &'a std::collections::BTreeMap<String, serde_json::Value>,
    environment: &'a str,
    validation: &'a str,
    install: bool,
    requirements: &'a std::collections::BTreeMap<String, String>,
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
    let inputs = Inputs {
        program: program(),
        corpus: &fetched.corpus,
        snapshots: fetched
            .sources
            .iter()
            .map(|source| (source.snapshot.source.name.as_str(), source.snapshot.identity.as_str()))
            .collect(),
        missing: fetched.missing.iter().map(|source| source.name.as_str()).collect(),
        kept_imports: &settings.keep_imports,
        level: settings.level.name(),
        gate: settings.gate.name(),
        licenses: &settings.licenses,
        index: settings.index,
        plugins: plugins.iter().map(|plugin| (plugin.name.as_str(), plugin.digest.as_str())).collect(),
        plugin_options: &settings.plugin_options,
        environment,
        validation,
        install: settings.install,
        requirements: &settings.requirements,
    };
    let text = serde_json::to_vec(&inputs).expect("the inputs have string keys");
    hexadecimal(&Sha256::digest(text))
}

/// The program itself: its version, and which build of it.
fn program() -> String {
    let build = std::env::current_exe().and_then(std::fs::metadata).ok().map(|metadata| {
        let modified = metadata.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        format!("{} {}", metadata.len(), modified.unwrap_or_default().as_nanos())
    });
    format!("{} {}", env!("CARGO_PKG_VERSION"), build.unwrap_or_default())
}
