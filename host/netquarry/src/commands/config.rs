//! `netquarry config`: whether `netquarry.toml` can be used, and what may stand in it.

use std::collections::BTreeSet;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use netquarry_corpus::load;
use netquarry_plugin::{ConfigureError, Kind, Plugin, PluginHost, first_party};
use serde_json::{Value, json};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Ending;
use crate::arguments::{ConfigCommand, GlobalArguments, PipelineArguments};
use crate::configuration::{Configuration, ConfigurationFile, DEFAULTS, FILE_NAME, Settings, working_folder};
use crate::console::Console;
use crate::driver::fetch;
use crate::driver::plugins::{self, NamedPlugin};
use crate::problem::Problem;
use crate::quantity::human_things;

pub(super) fn config(command: ConfigCommand, global: &GlobalArguments, console: &Console) -> Result<Ending, Problem> {
    match command {
        ConfigCommand::Check => check(global, console),
        ConfigCommand::Schema => {
            console.print_json(&schema(global)?)?;
            Ok(Ending::Done)
        }
    }
}

/// Reads the file, loads every plugin that it orders, and has each accept its options.
fn check(global: &GlobalArguments, console: &Console) -> Result<Ending, Problem> {
    let folder = working_folder()?;
    let file = ConfigurationFile::find(global, &folder)?;
    let Some(path) = &file.path else {
        return Err(Problem::new(format!("There is no {FILE_NAME} here or above"))
            .help("a run without one has the defaults; `netquarry config schema` says what may stand in it"));
    };
    let settings = Settings::new(global, &PipelineArguments::default(), &file)?;
    let text = fs::read_to_string(path).map_err(|error| Problem::io("read the configuration file", path, error))?;
    let shown = path.strip_prefix(&folder).unwrap_or(path);
    let place = Place { path: shown, text: &text };
    let host = plugins::host(&settings)?;
    let problems = problems(&settings, &file, &host, &place);
    problems.iter().for_each(|problem| console.error(problem));
    if problems.is_empty() {
        console.status("Checked", &format!("{}: every plugin accepts its options", shown.display()));
        return Ok(Ending::Done);
    }
    console.status("Checked", &format!("{}: {}", shown.display(), human_things(problems.len(), "problem")));
    Ok(Ending::Findings)
}

/// What is wrong with plugins and their options, in the order of the kinds.
fn problems(settings: &Settings, file: &ConfigurationFile, host: &PluginHost, place: &Place<'_>) -> Vec<Problem> {
    let (order, written) = (&settings.plugins, &file.configuration.plugins);
    let mut problems = Vec::new();
    // Of a corpus that cannot be read nothing is said but that.
    let (asked_by_corpus, sources) = match fetch::corpus(settings) {
        Ok(corpus) => {
            (corpus.discovery_rule, corpus.sources.into_iter().map(|source| source.name).collect::<Vec<String>>())
        }
        Err(problem) => {
            problems.push(place.at(problem, &culprit(settings), "this one"));
            (None, settings.source_options.keys().cloned().collect())
        }
    };
    let discovery = plugins::discovery_order(settings, asked_by_corpus.as_deref());
    let kinds = [
        ("discover", &discovery, &written.discover, Kind::DiscoveryRule),
        ("shims", &order.shims, &written.shims, Kind::RepoShim),
        ("dedup", &order.dedup, &written.dedup, Kind::DedupStrategy),
        ("emit", &order.emit, &written.emit, Kind::SpecEmitter),
    ];
    let mut known: BTreeSet<String> = BTreeSet::new();
    for (key, names, written, kind) in kinds {
        let mut identities = Vec::new();
        known.extend(names.iter().cloned());
        for name in names {
            let is_it = |written: &String| written == name || file.absolute(Path::new(written)) == Path::new(name);
            let index = written.iter().position(is_it).or_else(|| written.iter().position(|name| name == DEFAULTS));
            // One that stands nowhere is a default, or what the corpus asks for.
            let listed: Vec<String> =
                index.map(|index| vec!["plugins".to_owned(), key.to_owned(), index.to_string()]).unwrap_or_default();
            match plugins::load(settings, host, name) {
                Err(problem) => problems.push(place.at(problem, &listed, "this one")),
                Ok(named) => {
                    identities.push(named.plugin.identity().clone());
                    let granted = plugins::granted(settings, &[name, &named.plugin.identity().name]);
                    if let Err(ungranted) = named.plugin.clone().granted(&granted) {
                        problems.push(place.at(Problem::from(ungranted), &listed, "this one"));
                    }
                    let options = plugins::options(settings, &named);
                    let keys = ["plugin", plugins::name_of_options(&settings.plugin_options, &named)];
                    problems.extend(refusal(&named.plugin, kind, &options, &listed, &keys, place));
                    problems.extend(of_sources(settings, &named, kind, &listed, place));
                }
            }
        }
        if let Err(problem) = plugins::distinct(identities.iter()) {
            problems.push(place.at(problem, &["plugins".to_owned(), key.to_owned()], "these"));
        }
        // A component goes by its own name too.
        known.extend(identities.into_iter().map(|identity| identity.name));
    }
    // Options of a plugin of the program that nobody asks now are to be right all the same.
    let unasked = first_party().iter().filter(|component| !known.contains(component.name));
    for component in unasked.filter(|component| settings.plugin_options.contains_key(component.name)) {
        match plugins::load(settings, host, component.name) {
            Ok(named) => {
                let (kind, options) = (named.plugin.description().kind, plugins::options(settings, &named));
                problems.extend(refusal(&named.plugin, kind, &options, &[], &["plugin", component.name], place));
            }
            Err(problem) => problems.push(problem),
        }
    }
    let is_known = |name: &str| known.contains(name) || first_party().iter().any(|component| component.name == name);
    for (table, name) in plugins::tables_of_options(settings).filter(|(_, name)| !is_known(name)) {
        let problem = Problem::new(format!("There is no plugin `{name}` to have options"))
            .help("[plugins] orders plugins, and `netquarry plugin list` names those that come with this program");
        problems.push(place.at(problem, &table, "these options"));
    }
    for source in settings.source_options.keys().filter(|source| !sources.contains(source)) {
        let problem =
            Problem::new(format!("The corpus `{}` has no source `{source}` to have options", settings.corpus))
                .help("`netquarry corpus show` prints its sources with their names");
        problems.push(place.at(problem, &["for-source".to_owned(), source.clone()], "these options"));
    }
    problems
}

/// Where it stands that there is no corpus: at a source of the user's own that the corpus does not have or that is no folder,
/// or else at the corpus.
fn culprit(settings: &Settings) -> Vec<String> {
    let corpus = load::load(&settings.corpus).ok();
    let is_wrong = |(name, path): &(&String, &PathBuf)| {
        corpus.as_ref().is_some_and(|corpus| corpus.source(name).is_none() || !path.is_dir())
    };
    match settings.sources.iter().find(is_wrong) {
        Some((name, _)) => vec!["sources".to_owned(), name.clone()],
        None => vec!["corpus".to_owned()],
    }
}

/// What is wrong with the options that a plugin has for single sources.
fn of_sources(
    settings: &Settings,
    named: &NamedPlugin,
    kind: Kind,
    listed: &[String],
    place: &Place<'_>,
) -> Vec<Problem> {
    let with_own = |source: &String| Some((source.clone(), plugins::options_of_source(settings, named, source)?));
    let refused = |(source, options): (String, Value)| {
        let of_plugin = plugins::name_of_options(&settings.source_options[&source], named);
        let keys = ["for-source", &source, "plugin", of_plugin];
        match kind {
            Kind::DiscoveryRule | Kind::SpecEmitter => refusal(&named.plugin, kind, &options, listed, &keys, place),
            Kind::RepoShim | Kind::DedupStrategy => {
                Some(place.at(plugins::asked_once(named, &source), &keys.map(str::to_owned), "these options"))
            }
        }
    };
    settings.source_options.keys().filter_map(with_own).filter_map(refused).collect()
}

/// Why a plugin cannot be used so, with the place that is at fault; its options stand under `keys`.
fn refusal(
    plugin: &Plugin,
    kind: Kind,
    options: &Value,
    listed: &[String],
    keys: &[&str],
    place: &Place<'_>,
) -> Option<Problem> {
    let configured = match kind {
        Kind::DiscoveryRule => plugin.discovery_rule(options).map(drop),
        Kind::RepoShim => plugin.repo_shim(options).map(drop),
        Kind::DedupStrategy => plugin.dedup_strategy(options).map(drop),
        Kind::SpecEmitter => plugin.spec_emitter(options).map(drop),
    };
    let error = configured.err()?;
    Some(match &error {
        ConfigureError::Refused { pointer, .. } => {
            let own = pointer.split('/').skip(1).map(|key| key.replace("~1", "/").replace("~0", "~"));
            let own: Vec<String> = own.collect();
            let options = &plugin.description().configuration_schema["properties"];
            let is_option = own.first().is_none_or(|option| options.get(option).is_some());
            let keys: Vec<String> = keys.iter().map(|key| (*key).to_owned()).chain(own).collect();
            match is_option {
                true => place.at(Problem::from(error), &keys, "here"),
                false => place.at_key(Problem::from(error), &keys, "here"),
            }
        }
        ConfigureError::Kind { .. } | ConfigureError::Call(_) => place.at(Problem::from(error), listed, "this one"),
    })
}

/// The file that the user wrote.
struct Place<'a> {
    path: &'a Path,
    text: &'a str,
}

impl Place<'_> {
    /// The problem, pointing at what stands under these keys, or under as many of them as there are.
    fn at(&self, problem: Problem, keys: &[String], label: &str) -> Problem {
        self.pointing(problem, keys, Part::Said, label)
    }

    /// Likewise, at the last key: at a name that means nothing, whatever is said of it.
    fn at_key(&self, problem: Problem, keys: &[String], label: &str) -> Problem {
        self.pointing(problem, keys, Part::Key, label)
    }

    fn pointing(&self, problem: Problem, keys: &[String], part: Part, label: &str) -> Problem {
        match DeTable::parse(self.text).ok().and_then(|table| span(&table, keys, part)) {
            Some(span) => problem.at(self.path, self.text, span, label),
            None => problem,
        }
    }
}

/// What of a line is pointed at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Key,
    /// The value, which says more than its key; but the key of a table, which may be long.
    Said,
}

/// Where `keys` lead to, or as many of them as there are.
fn span(table: &Spanned<DeTable<'_>>, keys: &[String], part: Part) -> Option<Range<usize>> {
    let (first, mut rest) = keys.split_first()?;
    let (key, mut value) = table.get_ref().get_key_value(first.as_str())?;
    let mut span = key.span();
    while let Some((key, further)) = rest.split_first() {
        let next = match value.get_ref() {
            DeValue::Table(table) => table.get_key_value(key.as_str()).map(|(key, value)| (key.span(), value)),
            DeValue::Array(values) => {
                let value = key.parse().ok().and_then(|index: usize| values.get(index));
                value.map(|value| (value.span(), value))
            }
            _ => None,
        };
        let Some((found, below)) = next else { break };
        (span, value, rest) = (found, below, further);
    }
    Some(match (part, value.get_ref()) {
        (Part::Key, _) | (Part::Said, DeValue::Table(_)) => span,
        (Part::Said, _) => value.span(),
    })
}

/// The JSON Schema of `netquarry.toml`, with the options of the plugins that come with this program.
fn schema(global: &GlobalArguments) -> Result<Value, Problem> {
    let settings = Settings::new(global, &PipelineArguments::default(), &ConfigurationFile::default())?;
    let host = plugins::host(&settings)?;
    let mut schema = schemars::schema_for!(Configuration).to_value();
    let mut options = serde_json::Map::new();
    for component in first_party() {
        let plugin = plugins::load(&settings, &host, component.name)?.plugin;
        let mut own = plugin.description().configuration_schema.clone();
        if let Some(own) = own.as_object_mut() {
            own.remove("$schema");
            // Definitions are looked up from the root of a document.
            own.insert("$id".to_owned(), json!(format!("netquarry-plugin:{}", component.name)));
        }
        options.insert(component.name.to_owned(), own);
    }
    schema["properties"]["plugin"]["properties"] = Value::Object(options);
    Ok(schema)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_at_fault_is_pointed_at() {
        let text =
            "corpus = \"x\"\n[plugins]\nshims = [\"shim-timm\", \"shim-tmm\"]\n[plugin.dedup-lexical]\nthreshold = 7\n";
        let table = DeTable::parse(text).expect("it is TOML");
        let part_pointed = |keys: &[&str], part| {
            let keys: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
            span(&table, &keys, part).map(|span| &text[span])
        };
        let pointed = |keys: &[&str]| part_pointed(keys, Part::Said);
        assert_eq!(pointed(&["plugins", "shims", "1"]), Some("\"shim-tmm\""));
        assert_eq!(pointed(&["plugin", "dedup-lexical", "threshold"]), Some("7"));
        assert_eq!(pointed(&["plugin", "dedup-lexical", "treshold"]), Some("dedup-lexical"));
        assert_eq!(pointed(&["plugin", "dedup-exact"]), Some("plugin"));
        assert_eq!(pointed(&["nothing"]), None);
        assert_eq!(part_pointed(&["plugin", "dedup-lexical", "threshold"], Part::Key), Some("threshold"));
    }
}
