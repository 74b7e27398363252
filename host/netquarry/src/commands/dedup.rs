//! `netquarry dedup run [INPUT]`: deduplication alone, of a library or of a folder of Python files.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use netquarry_core::record::{DedupDecision, DedupOutcome};
use netquarry_core::syntax::PARSER_STACK_BYTES;
use serde::Serialize;

use super::listing::{DuplicateRow, list};
use super::{Ending, command_line};
use crate::arguments::{DedupCommand, DedupRunArguments};
use crate::configuration::{PluginOrder, Settings};
use crate::console::Console;
use crate::driver::curate::{Contender, curate};
use crate::driver::plugins::Plugins;
use crate::library::folder::{Files, OutputFolder};
use crate::library::run_record::{RunRecord, State, now};
use crate::library::{header, manifest};
use crate::problem::Problem;

/// The strategies and options of NN-DUP.
const NN_DUP: &str = include_str!("../presets/nn-dup.toml");

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Preset {
    plugins: PluginOrder,
    plugin: BTreeMap<String, toml::Table>,
}

/// One line of `decisions.jsonl`.
#[derive(Serialize)]
struct Decision<'a> {
    block: &'a str,
    #[serde(flatten)]
    decision: &'a DedupDecision,
}

pub(super) fn dedup(command: &DedupCommand, settings: &Settings, console: &Console) -> Result<Ending, Problem> {
    let DedupCommand::Run(arguments) = command;
    let settings = with_preset(arguments, settings)?;
    let input = arguments.input.clone().unwrap_or_else(|| settings.out.clone());
    let folder = match &arguments.out {
        Some(out) => Some(OutputFolder::open(out, &settings.cache_dir.join("locks"))?),
        None => None,
    };
    let models = models(&input)?;
    let strategies = Plugins::load_dedup(&settings)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(settings.threads).stack_size(PARSER_STACK_BYTES).build();
    let pool = pool
        .map_err(|error| Problem::new("Could not start threads").because(error).help("ask for fewer with --threads"))?;
    let contenders: Vec<Contender> = models.iter().map(|model| model.contender.clone()).collect();
    let curated = curate(&pool, console, &strategies, &contenders);
    if let Some(folder) = folder {
        let record = RunRecord::begin(command_line(), settings.threads);
        let record = RunRecord { state: State::Extended, ended: Some(now()), ..record };
        folder.write(&files(&models, &curated.decisions), record)?;
    }
    let rows: Vec<DuplicateRow> =
        contenders.iter().filter_map(|contender| row(contender, &curated.decisions)).collect();
    list(console, &rows, Ending::Done)
}

fn with_preset(arguments: &DedupRunArguments, settings: &Settings) -> Result<Settings, Problem> {
    match arguments.preset.as_str() {
        "default" => Ok(settings.clone()),
        "nn-dup" => {
            let preset: Preset = toml::from_str(NN_DUP).expect("a test reads the preset");
            let mut settings = settings.clone();
            settings.plugins.dedup = preset.plugins.dedup;
            for (name, options) in preset.plugin {
                settings.plugin_options.insert(name, serde_json::to_value(options).expect("a table has string keys"));
            }
            Ok(settings)
        }
        other => {
            Err(Problem::new(format!("There is no preset `{other}`")).help("the presets are `default` and `nn-dup`"))
        }
    }
}

/// A model with its file's text.
struct Model {
    contender: Contender,
    text: Arc<str>,
}

fn models(input: &Path) -> Result<Vec<Model>, Problem> {
    let models = match manifest::read(input)? {
        Some(records) => {
            let mut models = Vec::new();
            for record in records
                .into_iter()
                .filter(|record| record.bundle.as_ref().is_some_and(|path| path.starts_with("blocks/")))
            {
                let path = input.join(record.bundle.as_ref().expect("it was asked for"));
                let text: Arc<str> = read(&path)?.into();
                let code = header::strip(&text).into();
                let contender = Contender {
                    block: record.block,
                    name: record.name,
                    source: record.source.name,
                    priority: 1,
                    level: record.level,
                    code,
                };
                models.push(Model { contender, text });
            }
            models
        }
        None => python_files(input)?,
    };
    if models.is_empty() {
        return Err(Problem::new(format!("`{}` holds nothing to deduplicate", input.display()))
            .help("name a library that `netquarry run` made, or a folder with Python files"));
    }
    Ok(models)
}

/// The Python files below a folder, sorted by path.
fn python_files(folder: &Path) -> Result<Vec<Model>, Problem> {
    let mut waiting = vec![folder.to_owned()];
    let mut paths = Vec::new();
    while let Some(folder) = waiting.pop() {
        let entries = fs::read_dir(&folder)
            .map_err(|error| Problem::io("look into", &folder, error).help("name a folder that exists"))?;
        for entry in entries {
            let entry = entry.map_err(|error| Problem::io("look into", &folder, error))?;
            let kind = entry.file_type().map_err(|error| Problem::io("look at", &entry.path(), error))?;
            match entry.path() {
                path if kind.is_dir() => waiting.push(path),
                path if path.extension().is_some_and(|extension| extension == "py") => paths.push(path),
                _ => {}
            }
        }
    }
    paths.sort();
    let model = |path: std::path::PathBuf| {
        let text: Arc<str> = read(&path)?.into();
        let relative = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().into_owned();
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let contender =
            Contender { block: relative, name, source: String::new(), priority: 1, level: 0, code: Arc::clone(&text) };
        Ok(Model { contender, text })
    };
    paths.into_iter().map(model).collect()
}

/// Code as text; what is not UTF-8 is replaced, since only its tokens count.
fn read(path: &Path) -> Result<String, Problem> {
    let bytes = fs::read(path).map_err(|error| Problem::io("read", path, error))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn files(models: &[Model], decisions: &std::collections::HashMap<String, DedupDecision>) -> Files {
    let mut files = Files::new();
    let mut lines = String::new();
    for Model { contender, text } in models {
        let decision = &decisions[&contender.block];
        let line = Decision { block: &contender.block, decision };
        lines.push_str(&serde_json::to_string(&line).expect("a decision has string keys"));
        lines.push('\n');
        if decision.decision == DedupOutcome::Kept {
            let path = match contender.block.ends_with(".py") {
                true => contender.block.clone(),
                false => format!("{}.py", contender.block.replace([':', '.'], "_")),
            };
            files.insert(format!("kept/{path}"), Arc::from(text.as_bytes()));
        }
    }
    files.insert("decisions.jsonl".to_owned(), Arc::from(lines.into_bytes()));
    files
}

fn row(contender: &Contender, decisions: &std::collections::HashMap<String, DedupDecision>) -> Option<DuplicateRow> {
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
    fn the_preset_can_be_read() {
        let preset: Preset = toml::from_str(NN_DUP).expect("the preset is TOML");
        assert!(preset.plugins.dedup.iter().all(|name| preset.plugin.contains_key(name)));
    }
}
