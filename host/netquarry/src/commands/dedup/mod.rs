//! `netquarry dedup`: deduplication alone, of a library, of a folder of Python files or of a table.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use netquarry_core::fingerprint::archive::{Archive, Forgetful};
use netquarry_core::record::{DedupDecision, DedupOutcome};
use netquarry_core::syntax::PARSER_STACK_BYTES;
use netquarry_plugin::DedupStrategy;

use self::changes::{Changes, lines_for_configuration};
use self::strategies::{begins_with_any, with_strategies};
use super::listing::{DuplicateRow, list_streamed};
use super::{Ending, command_line, of_library};
use crate::arguments::{DedupCommand, DedupRunArguments};
use crate::configuration::Settings;
use crate::console::{Console, Format};
use crate::curation::{self, Curation, DECISIONS, Figures, Method};
use crate::driver::archive::FingerprintArchive;
use crate::driver::context::{Context, open_store};
use crate::driver::curate::{Contenders as _, Curated, Kernels, curate};
use crate::driver::plugins::{Plugins, warn_about_unknown_options};
use crate::driver::redecide;
use crate::library::folder::OutputFolder;
use crate::library::manifest;
use crate::library::run_record::{Contents, Manner, RunRecord, State, now};
use crate::models::Models;
use crate::problem::Problem;
use crate::quantity::{human_count, human_things};
use crate::spool::Spool;

mod changes;
mod explain;
mod strategies;
mod sweep;

pub(super) use explain::{Distance, distance};

pub(super) fn dedup(command: &DedupCommand, settings: &Settings, console: &Console) -> Result<Ending, Problem> {
    match command {
        DedupCommand::Run(arguments) => run(arguments, settings, console),
        DedupCommand::Explain(arguments) => explain::explain(arguments, settings, console),
        DedupCommand::Sweep(arguments) => sweep::sweep(arguments, settings, console),
    }
}

fn run(arguments: &DedupRunArguments, configured: &Settings, console: &Console) -> Result<Ending, Problem> {
    let (settings, layout) = with_strategies(arguments, configured)?;
    let layout = arguments.layout.unwrap_or(layout);
    let input = arguments.input.clone().unwrap_or_else(|| settings.out.clone());
    // Nobody else writes to it between what is read of it and what is written to it.
    let library = arguments.apply.then(|| library_to_change(&input, &settings)).transpose()?;
    let folder = match &arguments.out {
        Some(out) => Some(folder_for(out, &input, &settings)?),
        None => None,
    };
    let spool = Arc::new(Spool::new(&settings.cache_dir)?);
    let mut all = Models::read(&input, &spool)?;
    let is_included = |name: &str| arguments.includes.is_empty() || begins_with_any(name, &arguments.includes);
    let read = all.count();
    all.retain(is_included);
    spool.check()?;
    all.unreadable.iter().for_each(|problem| console.error(problem));
    if all.is_empty() {
        return Err(if read == 0 { nothing_in(&input) } else { nothing_included(&input, read, &arguments.includes) });
    }
    let strategies = Plugins::load_dedup(&settings)?;
    warn_about_unknown_options(&settings, console);
    let pool = threads(&settings)?;
    let fingerprints = match arguments.incremental || manifest::is_in(&input) {
        true => Fingerprints::kept(&settings, console),
        false => Fingerprints::forgotten(),
    };
    let kernels = Kernels { pool: &pool, spool: &spool, archive: fingerprints.archive() };
    let curated = curate(&kernels, console, &strategies, &all);
    spool.check()?;
    if let Some(folder) = folder {
        let record = RunRecord::begin(command_line(), settings.threads);
        let record =
            RunRecord { contents: Contents::Deduplicated, state: State::Finished, ended: Some(now()), ..record };
        let curation = pool.install(|| Curation::new(&all, &curated, layout, &arguments.upweights));
        let told = |strategy: &DedupStrategy| match curated.failed.contains(strategy.plugin()) {
            true => format!("{} (failed)", strategy.plugin().name),
            false => strategy.plugin().name.clone(),
        };
        let told: Vec<String> = strategies.iter().map(told).collect();
        let method = Method { preset: &arguments.preset, strategies: &told };
        let files = curation.files(&spool, &curation::title(&input), &method);
        spool.check()?;
        folder.write(&files, record)?;
        let figures = curation.figures();
        warn_of_empty_splits(console, &figures);
        let kept = human_things(figures.kept, "kept file");
        console.status("Wrote", &format!("{kept}, {DECISIONS} and the report to `{}`", folder.path().display()));
    }
    fingerprints.finish(console);
    let is_whole = all.unreadable.is_empty() && curated.failed.is_empty();
    let ending = if is_whole { Ending::Done } else { Ending::Incomplete };
    if let (Some(decided), None, true) = (&all.decided, &arguments.out, arguments.includes.is_empty()) {
        spool.check()?;
        let decisions = curated.decisions();
        let mut changes = Changes::between(&input, decided, &decisions);
        let lines = lines_for_configuration(configured, &settings);
        match library {
            Some(_) if !is_whole => return Err(not_whole(&input)),
            Some(folder) => {
                if !changes.is_empty() {
                    apply(&folder, &decisions, settings, console)?;
                }
                changes.applied = true;
            }
            None => {}
        }
        match console.format {
            Format::Json => console.print_json(&changes)?,
            Format::Human => console.print(&changes.human(console))?,
        }
        tell_what_is_next(console, &changes, lines.as_deref());
        return Ok(ending);
    }
    let rows = || curated.duplicates().filter_map(|place| row(&curated, place));
    let ending = list_streamed(console, rows, ending)?;
    spool.check()?;
    Ok(ending)
}

/// The library in a folder, which is to be changed.
fn library_to_change(folder: &Path, settings: &Settings) -> Result<OutputFolder, Problem> {
    if !manifest::is_in(folder) {
        return Err(Problem::new(format!(
            "`{}` is no library, so that --apply has nothing to change",
            folder.display()
        ))
        .help("leave --apply away, or take --out to write what is kept of other models"));
    }
    OutputFolder::open(folder, Contents::Library, &settings.cache_dir.join("locks"))
}

/// Makes the library what it is with these decisions. All else is as it was made: its corpus, from what was fetched for it,
/// its gate, its emitters, its interpreter.
fn apply(
    folder: &OutputFolder,
    decisions: &BTreeMap<String, DedupDecision>,
    settings: Settings,
    console: &Console,
) -> Result<(), Problem> {
    let out = folder.path().to_owned();
    let settings = Settings { out: out.clone(), corpus_was_asked_for: false, offline: true, ..settings };
    let mut settings = of_library(settings, &out, console)?;
    if let Some(record) = folder.run_record() {
        if let Some(Manner { level, gate, emitters }) = record.manner {
            (settings.level, settings.gate, settings.plugins.emit) = (level, gate, emitters);
        }
        let python = record.environment.and_then(|described| Some(PathBuf::from(described["python"].as_str()?)));
        settings.python = python.filter(|python| python.is_file()).or(settings.python);
    }
    let context = Context::open(&settings, console)?;
    let written = redecide::apply(&context, folder, decisions, command_line())?;
    let files = human_things(written.written, "file");
    console.status("Wrote", &format!("{files} to `{}`, removed {}", out.display(), human_count(written.removed)));
    Ok(())
}

/// How the changes that are shown are made, or how they stay when the library is made anew.
fn tell_what_is_next(console: &Console, changes: &Changes, lines: Option<&str>) {
    if !changes.applied && !changes.is_empty() {
        console.status("Unchanged", "the library is as it was: --apply makes these changes");
    }
    if let Some(lines) = lines.filter(|_| changes.applied) {
        console.caution(&format!(
            "the next `netquarry run` goes by netquarry.toml; to decide so again, put this there:\n\n{}",
            lines.trim_end()
        ));
    }
}

fn not_whole(library: &Path) -> Problem {
    Problem::new(format!("`{}` was left as it is: not all of it could be decided about", library.display()))
        .help("`netquarry verify` says what is wrong with it; `netquarry run` makes it anew")
}

/// What kernels find and leave in the store, where anything is kept of this input.
struct Fingerprints(Option<Arc<FingerprintArchive>>);

impl Fingerprints {
    fn forgotten() -> Self {
        Self(None)
    }

    /// A store that cannot be used costs time only.
    fn kept(settings: &Settings, console: &Console) -> Self {
        let opened = open_store(settings).and_then(|store| FingerprintArchive::new(&store));
        Self(opened.map_err(|error| console.warn(&Problem::from(error))).ok())
    }

    fn archive(&self) -> Arc<dyn Archive> {
        match &self.0 {
            Some(kept) => Arc::clone(kept) as _,
            None => Arc::new(Forgetful),
        }
    }

    fn finish(&self, console: &Console) {
        if let Some(Err(error)) = self.0.as_ref().map(|kept| kept.finish()) {
            console.warn(&Problem::from(error));
        }
    }
}

/// Threads that the kernels can run on.
fn threads(settings: &Settings) -> Result<rayon::ThreadPool, Problem> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(settings.threads).stack_size(PARSER_STACK_BYTES).build();
    pool.map_err(|error| Problem::new("Could not start threads").because(error).help("ask for fewer with --threads"))
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

/// So few models cannot be on all sides anyhow.
const FEW: usize = 10;

fn warn_of_empty_splits(console: &Console, figures: &Figures) {
    let empty = figures.empty_splits();
    if figures.kept >= FEW && !empty.is_empty() {
        let what = format!("No model is in {} of the split", empty.join(" or "));
        let largest = human_things(figures.largest_family, "model");
        let why = format!("a family is on one side as a whole, and the largest of {} has {largest}", figures.families);
        console.warn(&Problem::new(what).because(why).help(format!("split by `family` of {DECISIONS} otherwise")));
    }
}

fn nothing_included(input: &Path, read: usize, includes: &[String]) -> Problem {
    let prefixes = includes.iter().map(|prefix| format!("`{prefix}`")).collect::<Vec<_>>().join(" or ");
    let of = human_things(read, "model");
    Problem::new(format!("Of {of} in `{}` none has a name that begins with {prefixes}", input.display()))
        .help("--include compares letters and digits; leave it away to take all")
}

fn nothing_in(input: &Path) -> Problem {
    Problem::new(format!("`{}` holds nothing to deduplicate", input.display()))
        .help("name a library that `netquarry run` made, a folder with Python files, or a table of models")
}

fn row(curated: &Curated, place: usize) -> Option<DuplicateRow> {
    let DedupDecision { decision, reason, similarity, survivor, .. } = curated.decision(place);
    let row = || DuplicateRow { block: curated.identity(place), reason, similarity, survivor };
    (decision == DedupOutcome::Removed).then(row)
}
