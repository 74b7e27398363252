//! The plugins of a run: found, loaded, configured, and their tables read.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use netquarry_core::shim::ShimTables;
use netquarry_plugin::{
    CallError, ConfigureError, DedupStrategy, DiscoveryRule, HostOptions, Meter, Plugin, PluginHost, PluginIdentity,
    RepoShim, Right, SpecEmitter, first_party,
};
use rayon::prelude::*;
use serde_json::Value;

use super::for_sources::ForSources;
use super::registries;
use crate::configuration::{DEFAULT_DISCOVERY, PluginOptions, Settings, expanded};
use crate::console::Console;
use crate::hints::unusable_plugin;
use crate::problem::Problem;
use crate::quantity::human_things;

/// Every plugin of a run by its kind, in the configured order.
pub struct Plugins {
    pub discovery: Vec<ForSources<DiscoveryRule>>,
    pub shims: Vec<RepoShim>,
    /// The tables of the shims, in their order; a shim that does not tell its tables has none.
    pub tables: Vec<ShimTables>,
    pub dedup: Vec<DedupStrategy>,
    pub emit: Vec<ForSources<SpecEmitter>>,
    /// Adds up what their calls take.
    pub meter: Arc<Meter>,
}

/// A plugin under the name by which the configuration knows it.
pub struct NamedPlugin {
    pub name: String,
    pub plugin: Plugin,
}

impl Plugins {
    /// Loads everything that the settings name. `asked_by_corpus` is the discovery rule that the corpus wants.
    pub fn load(settings: &Settings, asked_by_corpus: Option<&str>, console: &Console) -> Result<Self, Problem> {
        registries::hold_to_lock(settings)?;
        let host = host(settings)?;
        let order = &settings.plugins;
        let discovery = discovery_order(settings, asked_by_corpus);
        refuse_options_of_no_plugin(settings, &discovery)?;
        warn_about_unused_options(settings, &discovery, console);
        if is_cold(settings) {
            let count = discovery.len() + order.shims.len() + order.dedup.len() + order.emit.len();
            console.status("Compiling", &format!("{} for this machine, once", human_things(count, "plugin")));
        }

        let load = |names: &[String]| -> Result<Vec<NamedPlugin>, Problem> {
            names.par_iter().map(|name| load(settings, &host, name)?.granted(settings)).collect()
        };
        let options = |named: &NamedPlugin| options(settings, named);
        let configure =
            |named: NamedPlugin| for_sources(settings, &named, |options| named.plugin.discovery_rule(options));
        let discovery: Vec<ForSources<DiscoveryRule>> =
            load(&discovery)?.into_iter().map(configure).collect::<Result<_, Problem>>()?;
        let configure = |named: NamedPlugin| {
            refuse_options_of_sources(settings, &named)?;
            Ok(named.plugin.repo_shim(&options(&named))?)
        };
        let shims: Vec<RepoShim> = load(&order.shims)?.into_iter().map(configure).collect::<Result<_, Problem>>()?;
        let dedup = load(&order.dedup)?.into_iter().map(|named| strategy(settings, &named));
        let dedup: Vec<DedupStrategy> = dedup.collect::<Result<_, Problem>>()?;
        let configure =
            |named: NamedPlugin| for_sources(settings, &named, |options| named.plugin.spec_emitter(options));
        let emit: Vec<ForSources<SpecEmitter>> =
            load(&order.emit)?.into_iter().map(configure).collect::<Result<_, Problem>>()?;
        distinct(discovery.iter().map(|rule| rule.all().plugin()))?;
        distinct(shims.iter().map(RepoShim::plugin))?;
        distinct(dedup.iter().map(DedupStrategy::plugin))?;
        distinct(emit.iter().map(|emitter| emitter.all().plugin()))?;
        let tables = tables(&shims, console);
        Ok(Self { discovery, shims, tables, dedup, emit, meter: Arc::clone(host.meter()) })
    }

    /// The deduplication strategies alone.
    pub fn load_dedup(settings: &Settings) -> Result<Vec<DedupStrategy>, Problem> {
        registries::hold_to_lock(settings)?;
        refuse_options_of_no_plugin(settings, &[])?;
        let host = host(settings)?;
        let names = settings.plugins.dedup.iter();
        let strategies = names.map(|name| strategy(settings, &load(settings, &host, name)?.granted(settings)?));
        let strategies: Vec<DedupStrategy> = strategies.collect::<Result<_, Problem>>()?;
        distinct(strategies.iter().map(DedupStrategy::plugin))?;
        Ok(strategies)
    }

    /// One emitter alone, with the options that the settings have for it and each source.
    pub fn load_emitter(settings: &Settings, name: &str) -> Result<ForSources<SpecEmitter>, Problem> {
        registries::hold_to_lock(settings)?;
        let named = load(settings, &host(settings)?, name)?.granted(settings)?;
        for_sources(settings, &named, |options| named.plugin.spec_emitter(options))
    }

    /// Every plugin, in the order in which the stages ask them.
    pub fn identities(&self) -> Vec<&PluginIdentity> {
        [self.of_blocks(), self.of_curation()].concat()
    }

    /// Those that say what the blocks are, in this order.
    pub fn of_blocks(&self) -> Vec<&PluginIdentity> {
        let discovery = self.discovery.iter().map(|rule| rule.all().plugin());
        discovery.chain(self.shims.iter().map(RepoShim::plugin)).collect()
    }

    /// Those that say which blocks are kept and what there is to say of them, in this order.
    pub fn of_curation(&self) -> Vec<&PluginIdentity> {
        let dedup = self.dedup.iter().map(DedupStrategy::plugin);
        dedup.chain(self.emit.iter().map(|emitter| emitter.all().plugin())).collect()
    }
}

impl NamedPlugin {
    /// The plugin with all that it asks for, where the user has granted it all of that.
    pub fn granted(self, settings: &Settings) -> Result<Self, Problem> {
        let Self { name, plugin } = self;
        let granted = granted(settings, &[&name, &plugin.identity().name]);
        Ok(Self { plugin: plugin.granted(&granted)?, name })
    }
}

/// What the configuration grants to a plugin, under any of its names.
pub fn granted(settings: &Settings, names: &[&str]) -> Vec<Right> {
    names.iter().filter_map(|name| settings.grants.get(*name)).flatten().cloned().collect()
}

/// The engine, with its compiled components in the cache folder.
pub fn host(settings: &Settings) -> Result<PluginHost, Problem> {
    let compiled_cache = Some(settings.cache_dir.join("plugins"));
    Ok(PluginHost::new(HostOptions { compiled_cache, limits: None, kept_calls: settings.kept_calls.clone() })?)
}

/// Whether no compiled plugin is kept yet.
fn is_cold(settings: &Settings) -> bool {
    fs::read_dir(settings.cache_dir.join("plugins")).map_or(true, |mut entries| entries.next().is_none())
}

/// The names of the discovery rules, in order.
pub fn discovery_order(settings: &Settings, asked_by_corpus: Option<&str>) -> Vec<String> {
    let default = vec![asked_by_corpus.unwrap_or(DEFAULT_DISCOVERY).to_owned()];
    match &settings.plugins.discover[..] {
        [] => default,
        names => expanded(names.to_vec(), &default),
    }
}

/// Loads the first-party plugin `name`, or the component at that path, or the one that the project has pinned.
pub fn load(settings: &Settings, host: &PluginHost, name: &str) -> Result<NamedPlugin, Problem> {
    let plugin = match first_party().iter().find(|component| component.name == name) {
        Some(component) => host.load_first_party(component)?,
        None if name.ends_with(".wasm") => of_file(host, Path::new(name))?,
        None => registries::locked(settings, host, name)?.ok_or_else(|| unknown(name))?,
    };
    Ok(NamedPlugin { name: name.to_owned(), plugin })
}

/// The component in this file as a plugin.
pub fn of_file(host: &PluginHost, path: &Path) -> Result<Plugin, Problem> {
    let bytes = fs::read(path).map_err(|error| Problem::io("read the plugin", path, error))?;
    host.load(&bytes).map_err(|error| unusable_plugin(&format!("`{}`", path.display()), &error))
}

/// Tells of calls that failed, each of which cost its own item: the first few in full, the number of the others.
pub fn report_failures(console: &Console, failures: &[CallError]) {
    const SHOWN: usize = 5;
    for failure in failures.iter().take(SHOWN) {
        console.warn(&Problem::from(failure));
    }
    if let Some(rest) = failures.len().checked_sub(SHOWN).filter(|rest| *rest > 0) {
        console.caution(&format!("{} of plugins failed, like those above", human_things(rest, "more call")));
    }
}

/// Refuses two plugins of a kind that have one name: records, folders of specs and questions to shims know them by it.
pub fn distinct<'a>(plugins: impl Iterator<Item = &'a PluginIdentity>) -> Result<(), Problem> {
    let mut seen: BTreeMap<&str, &PluginIdentity> = BTreeMap::new();
    for plugin in plugins {
        if let Some(earlier) = seen.insert(&plugin.name, plugin) {
            return Err(Problem::new(format!("Two plugins of one kind are called `{}`", plugin.name))
                .because(format!("{earlier} and {plugin}"))
                .help("leave one of them out of [plugins] in netquarry.toml, or of the command line"));
        }
    }
    Ok(())
}

fn unknown(name: &str) -> Problem {
    let known: Vec<&str> = first_party().iter().map(|component| component.name).collect();
    let nearest = known
        .iter()
        .copied()
        .max_by(|left, right| strsim::jaro_winkler(left, name).total_cmp(&strsim::jaro_winkler(right, name)));
    let guess = match nearest {
        Some(nearest) if strsim::jaro_winkler(nearest, name) > 0.85 => format!("did you mean `{nearest}`? "),
        _ => String::new(),
    };
    Problem::new(format!("There is no plugin `{name}`")).help(format!(
        "{guess}The first-party plugins are {}; a plugin of your own is named by the path of its .wasm file, and one of a \
         registry is pinned first, with `netquarry plugin add {name}`",
        known.join(", ")
    ))
}

/// The name under which the configuration has options for a plugin: the one that it is ordered under, or its own.
pub fn name_of_options<'a>(options: &PluginOptions, named: &'a NamedPlugin) -> &'a str {
    if options.contains_key(&named.name) { &named.name } else { &named.plugin.identity().name }
}

/// The options that the configuration gives to a plugin.
pub fn options(settings: &Settings, named: &NamedPlugin) -> Value {
    let found = settings.plugin_options.get(name_of_options(&settings.plugin_options, named));
    found.cloned().unwrap_or_else(|| Value::Object(serde_json::Map::new()))
}

/// Likewise for one source: what it has of its own goes over what all have. Nothing where it has nothing of its own.
pub fn options_of_source(settings: &Settings, named: &NamedPlugin, source: &str) -> Option<Value> {
    let own = settings.source_options.get(source)?;
    let own = own.get(name_of_options(own, named))?;
    let mut merged = options(settings, named);
    let into = merged.as_object_mut().expect("options are an object");
    into.extend(own.as_object().expect("options are an object").clone());
    Some(merged)
}

fn strategy(settings: &Settings, named: &NamedPlugin) -> Result<DedupStrategy, Problem> {
    refuse_options_of_sources(settings, named)?;
    Ok(named.plugin.dedup_strategy(&options(settings, named))?)
}

/// A plugin as it is configured for all sources, and for those that have options of their own.
fn for_sources<T>(
    settings: &Settings,
    named: &NamedPlugin,
    configure: impl Fn(&Value) -> Result<T, ConfigureError>,
) -> Result<ForSources<T>, Problem> {
    let mut own = BTreeMap::new();
    for source in settings.source_options.keys() {
        if let Some(options) = options_of_source(settings, named, source) {
            let configured = configure(&options).map_err(|error| {
                Problem::new(format!("[for-source.{source}.plugin.{}] cannot be used", named.name))
                    .because(error.to_string())
            })?;
            own.insert(source.clone(), configured);
        }
    }
    Ok(ForSources::new(configure(&options(settings, named))?, own))
}

/// Shims tell their rules once, and strategies look at all blocks together.
pub fn refuse_options_of_sources(settings: &Settings, named: &NamedPlugin) -> Result<(), Problem> {
    let is_meant = |source: &&String| options_of_source(settings, named, source).is_some();
    settings.source_options.keys().find(is_meant).map_or(Ok(()), |source| Err(asked_once(named, source)))
}

/// Why a plugin has no options for this source.
pub fn asked_once(named: &NamedPlugin, source: &str) -> Problem {
    Problem::new(format!("[for-source.{source}.plugin.{}] cannot be used", named.name))
        .because(format!("a {} is asked once for all sources", named.plugin.description().kind))
        .help("discovery rules and emitters can have options for one source")
}

/// Options that the command line gives are for a plugin that there is: one of the program, or one that is ordered or pinned.
/// A component goes by its own name too, which nobody knows before it is loaded.
fn refuse_options_of_no_plugin(settings: &Settings, discovery: &[String]) -> Result<(), Problem> {
    if settings.plugins_set.is_empty() {
        return Ok(());
    }
    let ordered: BTreeSet<&String> = settings.plugins.names().chain(discovery).collect();
    if ordered.iter().any(|name| name.ends_with(".wasm")) {
        return Ok(());
    }
    let lock = registries::lock(settings)?;
    let is_known = |name: &String| {
        let is_of_program = first_party().iter().any(|component| component.name == *name);
        is_of_program || ordered.contains(name) || lock.get(name).is_some()
    };
    let stray = settings.plugins_set.iter().find(|name| !is_known(name));
    stray.map_or(Ok(()), |name| Err(unknown(name).because("--set gives it an option")))
}

fn warn_about_unused_options(settings: &Settings, discovery: &[String], console: &Console) {
    let order = &settings.plugins;
    let used = [discovery, &order.shims, &order.dedup, &order.emit].into_iter().flatten().map(String::as_str);
    warn_about_options_beside(&used.collect(), settings, console);
}

/// Of a command that asks strategies only: options of the others are not misplaced.
pub fn warn_about_unknown_options(settings: &Settings, console: &Console) {
    let order = &settings.plugins;
    let named = [&order.shims, &order.dedup, &order.emit].into_iter().flatten().map(String::as_str);
    let known = named.chain(first_party().iter().map(|component| component.name));
    warn_about_options_beside(&known.collect(), settings, console);
    // What the command line gives is meant for this command.
    let is_asked = |name: &String| settings.plugins.dedup.iter().any(|asked| asked == name || asked.ends_with(".wasm"));
    for name in settings.plugins_set.iter().filter(|name| !is_asked(name)) {
        console.caution(&format!("--set gives an option to `{name}`, a plugin that is not asked here"));
    }
}

fn warn_about_options_beside(used: &BTreeSet<&str>, settings: &Settings, console: &Console) {
    let has_component = used.iter().any(|name| name.ends_with(".wasm"));
    for (table, name) in tables_of_options(settings) {
        if used.contains(name) || has_component {
            continue;
        }
        let nearest = used
            .iter()
            .copied()
            .max_by(|left, right| strsim::jaro_winkler(left, name).total_cmp(&strsim::jaro_winkler(right, name)));
        let guess = nearest.filter(|nearest| strsim::jaro_winkler(nearest, name) > 0.85);
        let guess = guess.map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default();
        let what = match settings.plugins_set.contains(name) {
            true => format!("--set gives an option to `{name}`, a plugin that this run does not use"),
            false => format!("[{}] has options for a plugin that this run does not use", table.join(".")),
        };
        console.caution(&format!("{what}{guess}"));
    }
}

/// Every table of the configuration that has options of a plugin, as it is headed, with the plugin's name.
pub fn tables_of_options(settings: &Settings) -> impl Iterator<Item = (Vec<String>, &str)> {
    let for_all = settings.plugin_options.keys().map(|name| (vec!["plugin".to_owned(), name.clone()], name.as_str()));
    let for_one = settings.source_options.iter().flat_map(|(source, options)| {
        let heading = move |name: &String| ["for-source", source, "plugin", name].map(str::to_owned).to_vec();
        options.keys().map(move |name| (heading(name), name.as_str()))
    });
    for_all.chain(for_one)
}

fn tables(shims: &[RepoShim], console: &Console) -> Vec<ShimTables> {
    let (tables, failures) = shims.iter().map(RepoShim::tables).partition::<Vec<_>, _>(Result::is_ok);
    report_failures(console, &failures.into_iter().filter_map(Result::err).collect::<Vec<_>>());
    tables.into_iter().filter_map(Result::ok).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_plugins_of_one_name_are_refused() {
        let plugin = |name: &str, digest: &str| PluginIdentity {
            name: name.to_owned(),
            version: "0.1.0".to_owned(),
            digest: digest.to_owned(),
        };
        let (ours, theirs, other) = (plugin("shim-timm", "1"), plugin("shim-timm", "2"), plugin("shim-other", "1"));
        distinct([&ours, &other].into_iter()).expect("each has a name of its own");
        let problem = distinct([&ours, &other, &theirs].into_iter()).unwrap_err();
        assert_eq!(problem.to_string(), "Two plugins of one kind are called `shim-timm`");
    }
}
