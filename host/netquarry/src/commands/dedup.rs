//! `netquarry dedup run [INPUT]`: deduplication alone, of a library or of a folder of Python files.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use netquarry_core::dedup::Code;
use netquarry_core::record::{BlockRecord, DedupDecision, DedupOutcome};
use netquarry_core::syntax::PARSER_STACK_BYTES;
use serde::Serialize;

use super::listing::{DuplicateRow, list};
use super::{Ending, command_line};
use crate::arguments::{DedupCommand, DedupRunArguments};
use crate::configuration::{PluginOrder, Settings};
use crate::console::Console;
use crate::driver::curate::{Contender, curate};
use crate::driver::plugins::Plugins;
use crate::library::folder::{Content, Files, OutputFolder};
use crate::library::run_record::{Contents, RunRecord, State, now};
use crate::library::{header, manifest};
use crate::problem::Problem;
use crate::quantity::human_things;
use crate::spool::{Spool, Spooled, SpooledCode};

/// The strategies and options of NN-DUP.
const NN_DUP: &str = include_str!("../presets/nn-dup.toml");

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Preset {
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
    let settings = with_preset(arguments, settings)?;
    let input = arguments.input.clone().unwrap_or_else(|| settings.out.clone());
    let folder = match &arguments.out {
        Some(out) => Some(folder_for(out, &input, &settings)?),
        None => None,
    };
    let spool = Arc::new(Spool::new(&settings.cache_dir)?);
    let Models { models, unreadable } = models(&input, &spool)?;
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
        .help("name a library that `netquarry run` made, or a folder with Python files")
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

/// What was found, with its file's text in the spool.
struct Model {
    contender: Contender,
    /// Its file, to the byte.
    file: Spooled<[u8]>,
    /// Where it goes below `kept/`.
    path: String,
}

#[derive(Default)]
struct Models {
    models: Vec<Model>,
    /// Files that could not be read; the others are deduplicated all the same.
    unreadable: Vec<Problem>,
}

impl Models {
    fn of(spool: &Arc<Spool>, found: impl Iterator<Item = Result<Found, Problem>>) -> Result<Self, Problem> {
        let mut all = Self::default();
        for found in found {
            match found {
                Ok(found) => all.models.push(found.spooled(spool)?),
                Err(problem) => all.unreadable.push(problem),
            }
        }
        Ok(all)
    }
}

/// A model whose file was read.
struct Found {
    block: String,
    name: String,
    source: String,
    priority: u32,
    level: u8,
    bytes: Vec<u8>,
    /// Where in the text the code starts.
    code_start: usize,
    path: String,
}

impl Found {
    fn spooled(self, spool: &Arc<Spool>) -> Result<Model, Problem> {
        // What is not UTF-8 is replaced, since only the tokens count.
        let text = String::from_utf8_lossy(&self.bytes);
        let is_whole = matches!(text, Cow::Borrowed(_));
        let text = spool.put_text(&text)?;
        let file = if is_whole { text.as_bytes() } else { spool.put(&self.bytes)? };
        let code = Code::behind(SpooledCode { spool: Arc::clone(spool), text }, self.code_start);
        let Self { block, name, source, priority, level, path, .. } = self;
        Ok(Model { contender: Contender { block, name, source, priority, level, code }, file, path })
    }
}

fn models(input: &Path, spool: &Arc<Spool>) -> Result<Models, Problem> {
    let Some(records) = manifest::read(input)? else { return python_files(input, spool) };
    let mut unread = None;
    // A line that is no record ends the command.
    let records = records.map_while(|record| record.map_err(|problem| unread = Some(problem)).ok());
    let models = Models::of(spool, records.filter_map(|record| block_of_library(input, record)))?;
    unread.map_or(Ok(models), Err)
}

/// A promoted block of the library in `folder`; `None` for the others.
fn block_of_library(folder: &Path, record: BlockRecord) -> Option<Result<Found, Problem>> {
    let file = record.bundle?.strip_prefix("blocks/")?.to_owned();
    let found = read(&folder.join("blocks").join(&file)).map(|bytes| {
        let text = String::from_utf8_lossy(&bytes);
        Found {
            block: record.block,
            name: record.name,
            source: record.source.name,
            priority: record.source.priority,
            level: record.level,
            code_start: text.len() - header::strip(&text).len(),
            bytes,
            path: file,
        }
    });
    Some(found)
}

/// The Python files below a folder, sorted by path.
fn python_files(folder: &Path, spool: &Arc<Spool>) -> Result<Models, Problem> {
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
    let found = |path: std::path::PathBuf| {
        let bytes = read(&path)?;
        let block = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().into_owned();
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let path = block.clone();
        Ok(Found { block, name, source: String::new(), priority: 1, level: 0, bytes, code_start: 0, path })
    };
    Models::of(spool, paths.into_iter().map(found))
}

fn read(path: &Path) -> Result<Vec<u8>, Problem> {
    fs::read(path).map_err(|error| Problem::io("read", path, error))
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

    fn spool() -> Arc<Spool> {
        Arc::new(Spool::new(&std::env::temp_dir()).unwrap())
    }

    #[test]
    fn a_file_that_cannot_be_read_costs_itself_only() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.py"), "x = 1\n").unwrap();
        std::os::unix::fs::symlink("nowhere", folder.path().join("b.py")).unwrap();
        let Models { models, unreadable } = models(folder.path(), &spool()).unwrap();
        assert_eq!(models.iter().map(|model| model.path.as_str()).collect::<Vec<_>>(), ["a.py"]);
        assert!(unreadable[0].to_string().contains("b.py"), "{unreadable:?}");
    }

    #[test]
    fn blocks_of_a_library_keep_their_files_and_priorities() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("blocks")).unwrap();
        let mut records = Vec::new();
        // Their modules differ in where the dots are only.
        for (block, file, priority) in [("s:a.b_c.Net", "Net__a_b_c", 1), ("s:a_b.c.Net", "Net__a_b_c__1", 2)] {
            let mut record = crate::findings::tests::library().remove(0);
            record.block = block.to_owned();
            record.bundle = Some(format!("blocks/{file}.py"));
            record.source.priority = priority;
            fs::write(folder.path().join(format!("blocks/{file}.py")), block).unwrap();
            records.push(record);
        }
        manifest::write(
            records.into_iter().map(Ok),
            fs::File::create(folder.path().join(manifest::FILE_NAME)).unwrap(),
        )
        .unwrap();
        let found = models(folder.path(), &spool()).unwrap().models;
        let shown: Vec<_> = found.iter().map(|model| (model.path.as_str(), model.contender.priority)).collect();
        assert_eq!(shown, [("Net__a_b_c.py", 1), ("Net__a_b_c__1.py", 2)]);
    }

    #[test]
    fn the_preset_can_be_read() {
        let preset: Preset = toml::from_str(NN_DUP).expect("the preset is TOML");
        assert!(preset.plugins.dedup.iter().all(|name| preset.plugin.contains_key(name)));
    }
}
