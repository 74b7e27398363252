//! `netquarry dedup run [INPUT]`: deduplication alone, of a library, of a folder of Python files or of a table.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use netquarry_core::record::{DedupDecision, DedupOutcome};
use netquarry_core::syntax::PARSER_STACK_BYTES;
use serde::Serialize;
use serde_json::json;

use super::listing::{DuplicateRow, list};
use super::{Ending, command_line};
use crate::arguments::{DedupCommand, DedupRunArguments};
use crate::configuration::{PluginOrder, Settings};
use crate::console::Console;
use crate::driver::curate::{Contender, curate};
use crate::driver::plugins::Plugins;
use crate::library::folder::{Content, Files, OutputFolder};
use crate::library::run_record::{Contents, RunRecord, State, now};
use crate::models::{Model, Models};
use crate::problem::Problem;
use crate::quantity::human_things;
use crate::spool::Spool;

/// The strategies and options of NN-DUP.
const NN_DUP: &str = include_str!("../presets/nn-dup.toml");

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Preset {
    top_up: Vec<String>,
    plugins: PluginOrder,
    plugin: BTreeMap<String, toml::Table>,
}

/// What became of each model, a line each.
const DECISIONS: &str = "decisions.jsonl";

/// One line of [`DECISIONS`].
#[derive(Serialize)]
struct Decision<'a> {
    block: &'a str,
    #[serde(flatten)]
    decision: &'a DedupDecision,
}

pub(super) fn dedup(command: &DedupCommand, settings: &Settings, console: &Console) -> Result<Ending, Problem> {
    let DedupCommand::Run(arguments) = command;
    let settings = with_strategies(arguments, settings)?;
    let input = arguments.input.clone().unwrap_or_else(|| settings.out.clone());
    let folder = match &arguments.out {
        Some(out) => Some(folder_for(out, &input, &settings)?),
        None => None,
    };
    let spool = Arc::new(Spool::new(&settings.cache_dir)?);
    let Models { mut models, unreadable } = Models::read(&input, &spool)?;
    models.retain(|model| arguments.includes.is_empty() || begins_with_any(&model.contender.name, &arguments.includes));
    unreadable.iter().for_each(|problem| console.error(problem));
    if models.is_empty() {
        return Err(nothing_in(&input));
    }
    let strategies = Plugins::load_dedup(&settings)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(settings.threads).stack_size(PARSER_STACK_BYTES).build();
    let pool = pool
        .map_err(|error| Problem::new("Could not start threads").because(error).help("ask for fewer with --threads"))?;
    let contenders: Vec<Contender> = models.iter().map(|model| model.contender.clone()).collect();
    let curated = curate(&pool, console, &strategies, &contenders);
    spool.check()?;
    if let Some(folder) = folder {
        let record = RunRecord::begin(command_line(), settings.threads);
        let record =
            RunRecord { contents: Contents::Deduplicated, state: State::Finished, ended: Some(now()), ..record };
        let files = files(&spool, &models, &curated.decisions);
        folder.write(&files, record)?;
        let kept = files.len() - 1;
        console.status(
            "Wrote",
            &format!("{} and {DECISIONS} to `{}`", human_things(kept, "kept file"), folder.path().display()),
        );
    }
    let rows: Vec<DuplicateRow> =
        contenders.iter().filter_map(|contender| row(contender, &curated.decisions)).collect();
    list(console, &rows, if unreadable.is_empty() { Ending::Done } else { Ending::Incomplete })
}

/// Where the decisions go: never to where the models come from.
fn folder_for(out: &Path, input: &Path, settings: &Settings) -> Result<OutputFolder, Problem> {
    if let (Ok(out), Ok(input)) = (fs::canonicalize(out), fs::canonicalize(input))
        && out == input
    {
        return Err(Problem::new(format!("`{}` is both what is deduplicated and --out", out.display()))
            .help("name another folder with --out"));
    }
    OutputFolder::open(out, Contents::Deduplicated, &settings.cache_dir.join("locks"))
}

fn nothing_in(input: &Path) -> Problem {
    Problem::new(format!("`{}` holds nothing to deduplicate", input.display()))
        .help("name a library that `netquarry run` made, a folder with Python files, or a table of models")
}

/// Whether a name begins with one of the prefixes, by their letters and digits, whatever their case.
fn begins_with_any(name: &str, prefixes: &[String]) -> bool {
    let plain = |text: &str| -> String { text.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect() };
    let name = plain(name);
    prefixes.iter().any(|prefix| name.starts_with(&plain(prefix)))
}

/// The settings with what the command line says of strategies.
fn with_strategies(arguments: &DedupRunArguments, settings: &Settings) -> Result<Settings, Problem> {
    let (mut settings, topped_up) = with_preset(&arguments.preset, settings)?;
    let DedupRunArguments { includes, prefer_prefixes, top_ups, .. } = arguments;
    if !top_ups.is_empty() && !settings.plugins.dedup.iter().any(|used| used == "dedup-top-up") {
        return Err(Problem::new("Nothing brings models back: --top-up needs the strategy `dedup-top-up`")
            .help("take --preset nn-dup, or name the strategy under `[plugins]` in netquarry.toml"));
    }
    let inferred: Vec<String> = includes.iter().filter(|prefix| begins_with_any(prefix, &topped_up)).cloned().collect();
    let prefixes = [
        ("dedup-exact", if prefer_prefixes.is_empty() { includes } else { prefer_prefixes }),
        ("dedup-lexical", includes),
        ("dedup-rescue", includes),
        ("dedup-top-up", if top_ups.is_empty() { &inferred } else { top_ups }),
    ];
    for (plugin, prefixes) in prefixes {
        let is_used = settings.plugins.dedup.iter().any(|used| used == plugin);
        if is_used && !prefixes.is_empty() {
            let options = settings.plugin_options.entry(plugin.to_owned()).or_insert_with(|| json!({}));
            options["prefixes"] = json!(prefixes);
        }
    }
    Ok(settings)
}

/// The settings with the strategies of a preset, and the prefixes that it tops up by itself.
fn with_preset(preset: &str, settings: &Settings) -> Result<(Settings, Vec<String>), Problem> {
    match preset {
        "default" => Ok((settings.clone(), Vec::new())),
        "nn-dup" => {
            let preset: Preset = toml::from_str(NN_DUP).expect("a test reads the preset");
            let mut settings = settings.clone();
            settings.plugins.dedup = preset.plugins.dedup;
            for (name, options) in preset.plugin {
                settings.plugin_options.insert(name, serde_json::to_value(options).expect("a table has string keys"));
            }
            Ok((settings, preset.top_up))
        }
        other => {
            Err(Problem::new(format!("There is no preset `{other}`")).help("the presets are `default` and `nn-dup`"))
        }
    }
}

fn files<'a>(spool: &'a Spool, models: &[Model], decisions: &HashMap<String, DedupDecision>) -> Files<'a> {
    let mut files = Files::new();
    let mut lines = String::new();
    for Model { contender, file, path } in models {
        let decision = &decisions[&contender.block];
        let line = Decision { block: &contender.block, decision };
        lines.push_str(&serde_json::to_string(&line).expect("a decision has string keys"));
        lines.push('\n');
        if decision.decision == DedupOutcome::Kept {
            files.insert(format!("kept/{path}"), Content::Spooled { spool, bytes: *file });
        }
    }
    files.insert(DECISIONS.to_owned(), Content::Bytes(lines.into_bytes()));
    files
}

fn row(contender: &Contender, decisions: &HashMap<String, DedupDecision>) -> Option<DuplicateRow> {
    let decision = &decisions[&contender.block];
    (decision.decision == DedupOutcome::Removed).then(|| DuplicateRow {
        block: contender.block.clone(),
        reason: decision.reason.clone(),
        similarity: decision.similarity,
        survivor: decision.survivor.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_begin_with_letters_and_digits() {
        let begins = |name: &str, prefix: &str| begins_with_any(name, &["other".to_owned(), prefix.to_owned()]);
        assert!(begins("RAG_block-7", "rag-b") && begins("anything", "-"));
        assert!(!begins("drag", "rag"));
    }

    #[test]
    fn the_preset_can_be_read() {
        let preset: Preset = toml::from_str(NN_DUP).expect("the preset is TOML");
        assert!(preset.plugins.dedup.iter().all(|name| preset.plugin.contains_key(name)));
    }
}
