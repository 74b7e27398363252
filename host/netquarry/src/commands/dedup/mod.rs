//! `netquarry dedup`: deduplication alone, of a library, of a folder of Python files or of a table.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use netquarry_core::fingerprint::archive::{Archive, Forgetful};
use netquarry_core::record::{DedupDecision, DedupOutcome};
use netquarry_core::syntax::PARSER_STACK_BYTES;
use netquarry_plugin::DedupStrategy;

use self::changes::{Changes, lines_for_configuration};
use self::strategies::{begins_with_any, with_strategies};
use super::listing::{DuplicateRow, list_streamed};
use super::{Ending, command_line, of_library, tell_failed_calls};
use crate::arguments::{DedupCommand, DedupRunArguments};
use crate::configuration::Settings;
use crate::console::{Console, Format};
use crate::curation::{self, Curation, DECISIONS, Figures, Layout, Method};
use crate::driver::archive::FingerprintArchive;
use crate::driver::context::{Context, open_store};
use crate::driver::curate::{Contenders as _, Curated, Kernels, curate};
use crate::driver::plugins::{Plugins, warn_about_unknown_options};
use crate::driver::redecide;
use crate::library::costs::FailedCalls;
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

/// What the decisions are for.
enum Purpose {
    /// The duplicates are listed.
    List,
    /// What is kept is written there, with the decisions.
    Keep(OutputFolder),
    /// What would change in the library is shown.
    Preview,
    /// The library is changed.
    Apply(OutputFolder),
}

/// All models with what the strategies have decided.
struct Decided<'a> {
    input: &'a Path,
    settings: &'a Settings,
    spool: &'a Arc<Spool>,
    pool: &'a rayon::ThreadPool,
    strategies: &'a [DedupStrategy],
    models: &'a Models,
    curated: &'a Curated,
}

fn run(arguments: &DedupRunArguments, configured: &Settings, console: &Console) -> Result<Ending, Problem> {
    let (settings, layout) = with_strategies(arguments, configured)?;
    let input = arguments.input.clone().unwrap_or_else(|| settings.out.clone());
    let purpose = purpose(arguments, &input, &settings)?;
    let spool = Arc::new(Spool::new(&settings.cache_dir)?);
    let models = models(arguments, &input, &spool, console)?;
    if matches!(purpose, Purpose::Apply(_)) && !models.unreadable.is_empty() {
        return Err(unreadable_bundles(&input, models.unreadable.len()));
    }
    let strategies = Plugins::load_dedup(&settings)?;
    warn_about_unknown_options(&settings, console);
    let pool = threads(&settings)?;
    let fingerprints = match arguments.incremental || manifest::is_in(&input) {
        true => Fingerprints::kept(&settings, console),
        false => Fingerprints::forgotten(),
    };
    let kernels = Kernels { pool: &pool, spool: &spool, archive: fingerprints.archive() };
    let curated = curate(&kernels, console, &strategies, &models);
    spool.check()?;
    fingerprints.finish(console);
    let decided = Decided {
        input: &input,
        settings: &settings,
        spool: &spool,
        pool: &pool,
        strategies: &strategies,
        models: &models,
        curated: &curated,
    };
    let is_whole = models.unreadable.is_empty() && curated.failed.is_empty();
    let ending = if is_whole { Ending::Done } else { Ending::Incomplete };
    match &purpose {
        Purpose::List => list(&decided, ending, console),
        Purpose::Keep(folder) => {
            keep(&decided, folder, arguments, arguments.layout.unwrap_or(layout), console)?;
            list(&decided, ending, console)
        }
        Purpose::Preview => {
            let (changes, _) = changes(&decided, configured)?;
            tell(&changes, console)?;
            Ok(ending)
        }
        Purpose::Apply(folder) => {
            if let Some(failed) = curated.failed.first() {
                return Err(failed_strategy(&input, &failed.name));
            }
            let (mut changes, decisions) = changes(&decided, configured)?;
            // One that was interrupted may have the new manifest already, and yet not all that follows from it.
            let failed = match !changes.is_empty() || redecide::whole(folder)?.state == State::Redeciding {
                true => apply(folder, &decisions, settings, console)?,
                false => Vec::new(),
            };
            changes.applied = true;
            tell(&changes, console)?;
            tell_failed_calls(&failed, console);
            Ok(if failed.is_empty() { ending } else { Ending::Incomplete })
        }
    }
}

fn purpose(arguments: &DedupRunArguments, input: &Path, settings: &Settings) -> Result<Purpose, Problem> {
    Ok(match &arguments.out {
        // Nobody else writes to it between what is read of it and what is written to it.
        _ if arguments.apply => Purpose::Apply(library_to_change(input, settings)?),
        Some(out) => Purpose::Keep(folder_for(out, input, settings)?),
        None if manifest::is_in(input) && arguments.includes.is_empty() => Purpose::Preview,
        None => Purpose::List,
    })
}

/// The models of the input that are to be compared: one at least.
fn models(
    arguments: &DedupRunArguments,
    input: &Path,
    spool: &Arc<Spool>,
    console: &Console,
) -> Result<Models, Problem> {
    let mut models = Models::read(input, spool)?;
    let is_included = |name: &str| arguments.includes.is_empty() || begins_with_any(name, &arguments.includes);
    let read = models.count();
    models.retain(is_included);
    spool.check()?;
    models.unreadable.iter().for_each(|problem| console.error(problem));
    match (models.is_empty(), read) {
        (false, _) => Ok(models),
        (true, 0) => Err(nothing_in(input)),
        (true, read) => Err(nothing_included(input, read, &arguments.includes)),
    }
}

fn list(decided: &Decided<'_>, ending: Ending, console: &Console) -> Result<Ending, Problem> {
    let curated = decided.curated;
    let rows = || curated.duplicates().filter_map(|place| row(curated, place));
    let ending = list_streamed(console, rows, ending)?;
    decided.spool.check()?;
    Ok(ending)
}

/// Writes what is kept, with the decisions and the report.
fn keep(
    decided: &Decided<'_>,
    folder: &OutputFolder,
    arguments: &DedupRunArguments,
    layout: Layout,
    console: &Console,
) -> Result<(), Problem> {
    let Decided { input, settings, spool, pool, strategies, models, curated } = decided;
    let record = RunRecord::begin(command_line(), settings.threads);
    let record = RunRecord { contents: Contents::Deduplicated, state: State::Finished, ended: Some(now()), ..record };
    let curation = pool.install(|| Curation::new(models, curated, layout, &arguments.upweights));
    let told = |strategy: &DedupStrategy| match curated.failed.contains(strategy.plugin()) {
        true => format!("{} (failed)", strategy.plugin().name),
        false => strategy.plugin().name.clone(),
    };
    let told: Vec<String> = strategies.iter().map(told).collect();
    let method = Method { preset: &arguments.preset, strategies: &told };
    let files = curation.files(spool, &curation::title(input), &method);
    spool.check()?;
    folder.write(&files, record)?;
    let figures = curation.figures();
    warn_of_empty_splits(console, &figures);
    let kept = human_things(figures.kept, "kept file");
    console.status("Wrote", &format!("{kept}, {DECISIONS} and the report to `{}`", folder.path().display()));
    Ok(())
}

/// What the decisions change in the library, and the decisions themselves.
fn changes(
    decided: &Decided<'_>,
    configured: &Settings,
) -> Result<(Changes, BTreeMap<String, DedupDecision>), Problem> {
    let decisions = decided.curated.decisions();
    // A block whose identity could not be read back would pass for none.
    decided.spool.check()?;
    let before = decided.models.decided.as_ref().expect("the models of a library have decisions");
    let mut changes = Changes::between(decided.input, before, &decisions);
    changes.failed = decided.curated.failed.iter().map(ToString::to_string).collect();
    changes.unreadable = decided.models.unreadable.iter().map(ToString::to_string).collect();
    changes.configuration = lines_for_configuration(configured, decided.settings);
    Ok((changes, decisions))
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
    let folder = OutputFolder::open(folder, Contents::Library, &settings.cache_dir.join("locks"))?;
    redecide::whole(&folder)?;
    Ok(folder)
}

/// Makes the library what it is with these decisions. All else is as it was made: its corpus, from what was fetched for it,
/// its gate, its emitters, its interpreter.
fn apply(
    folder: &OutputFolder,
    decisions: &BTreeMap<String, DedupDecision>,
    settings: Settings,
    console: &Console,
) -> Result<Vec<FailedCalls>, Problem> {
    let out = folder.path().to_owned();
    let settings = Settings { out: out.clone(), corpus_was_asked_for: false, offline: true, ..settings };
    let mut settings = of_library(settings, &out, console)?;
    let record = redecide::whole(folder)?;
    settings.python = record.python().filter(|python| python.is_file()).or(settings.python);
    if let Some(Manner { level, gate, emitters }) = record.manner {
        (settings.level, settings.gate, settings.plugins.emit) = (level, gate, emitters);
    }
    let context = Context::open(&settings, console)?;
    let (written, failed) = redecide::apply(&context, folder, decisions, command_line())?;
    let files = human_things(written.written, "file");
    console.status("Wrote", &format!("{files} to `{}`, removed {}", out.display(), human_count(written.removed)));
    Ok(failed)
}

/// Shows the changes, and says how they are made, or how they stay when the library is made anew.
fn tell(changes: &Changes, console: &Console) -> Result<(), Problem> {
    match console.format {
        Format::Json => console.print_json(changes)?,
        Format::Human => console.print(&changes.human(console))?,
    }
    if !changes.applied && !changes.is_empty() {
        console.status("Shown", "what would change: --apply changes the library so");
    }
    if let Some(lines) = changes.configuration.as_deref().filter(|_| changes.applied) {
        console.caution(&format!(
            "the next `netquarry run` goes by netquarry.toml; to decide so again, put this there, in the place of what it \
             has under these names:\n\n{}",
            lines.trim_end()
        ));
    }
    Ok(())
}

fn unreadable_bundles(library: &Path, count: usize) -> Problem {
    let bundles = human_things(count, "bundle");
    Problem::new(format!("`{}` was left as it is: {bundles} could not be read", library.display()))
        .help("`netquarry verify` says what else is wrong with it; `netquarry run` makes it anew")
}

fn failed_strategy(library: &Path, strategy: &str) -> Problem {
    Problem::new(format!(
        "`{}` was left as it is: `{strategy}` failed, so that not all was compared",
        library.display()
    ))
    .help("leave it out of --dedup, or of [plugins] in netquarry.toml, to go by the other strategies")
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
