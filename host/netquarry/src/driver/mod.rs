//! The order of the stages, what runs beside what, and what is taken from an earlier run.
//!
//! ```text
//! fetch ─► index ─► discover ─► resolve ─► assemble ─► validate ─► curate ─► emit
//!    └──── a Python environment is made, where none is there ────┘
//! ```
//!
//! Every stage is a function from the results of earlier ones. What a later run can use again is kept as it comes: fetched
//! sources in the cache folder, facts and verdicts in the store. A run that ends early therefore loses only the pieces
//! that were in the making, and resumption is nothing but running again.

pub mod assemble;
pub mod context;
pub mod curate;
pub mod discover;
pub mod emit;
pub mod extract;
pub mod fetch;
pub mod index;
mod key;
pub mod plugins;
pub mod python;
pub mod records;
pub mod resolve;
pub mod select;
pub mod shims;
mod signature;
mod texts;
pub mod validate;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use netquarry_core::closure::{Closure, Rules};
use netquarry_core::record::BlockRecord;
use netquarry_core::source::Source;

use crate::arguments::IndexChoice;
use crate::course::{Course, Stage, StageCourse, Stopwatch, ValidationCourse, cpu_time, peak_memory};
use crate::environment::Environment;
use crate::findings::{Findings, is_promoted};
use crate::library::folder::OutputFolder;
use crate::library::manifest;
use crate::library::run_record::{RunRecord, State, now};
use crate::problem::Problem;
use crate::summary::{Summary, places};
use assemble::{Assembled, BundleFile};
use context::Context;
use curate::Contender;
use discover::{Candidate, Discovered};
use emit::BundleTexts;
use fetch::Fetched;
use index::Indexed;
use plugins::Plugins;
use python::Python;
use resolve::Outcome;
use validate::Validated;

/// The results of the stages that need no Python, for the candidates that were chosen.
pub struct Made {
    pub indexed: Indexed,
    pub candidates: Vec<Candidate>,
    pub rules: Rules,
    pub closures: Vec<Outcome<Arc<Closure>>>,
    pub assembled: Assembled,
    pub stages: Vec<StageCourse>,
}

/// The packages that stay imports: those of the corpus and those of the user.
pub fn kept_imports(context: &Context<'_>, fetched: &Fetched) -> Vec<String> {
    let packages: BTreeSet<&String> =
        fetched.corpus.keep_imports.iter().chain(&context.settings.keep_imports).collect();
    packages.into_iter().cloned().collect()
}

/// Index and discovery.
pub fn discovered(
    context: &Context<'_>,
    fetched: &Fetched,
    plugins: &Plugins,
) -> Result<(Indexed, Discovered), Problem> {
    let indexed = index::index(context, fetched, &kept_imports(context, fetched))?;
    let discovered = discover::discover(context, fetched, &indexed, &plugins.discovery)?;
    Ok((indexed, discovered))
}

/// Resolves and assembles `candidates`.
pub fn made(
    context: &Context<'_>,
    fetched: &Fetched,
    plugins: &Plugins,
    indexed: Indexed,
    candidates: Vec<Candidate>,
) -> Result<Made, Problem> {
    let rules = shims::rules(plugins, &indexed);
    let resolved = resolve::resolve(context, &indexed, &rules, &candidates)?;
    let assembled = assemble::assemble(context, &fetched.sources, &indexed, &candidates, &resolved.closures)?;
    let stages = vec![fetched.course.clone(), indexed.course.clone(), resolved.course, assembled.course.clone()];
    Ok(Made { indexed, candidates, rules, closures: resolved.closures, assembled, stages })
}

/// The whole pipeline: makes the library, or finds that it is there already. `arguments` is the command line, for the
/// record.
pub fn run(context: &Context<'_>, arguments: Vec<String>) -> Result<Summary, Problem> {
    let clock = Clock::start();
    let (settings, console) = (context.settings, context.console);
    let folder = OutputFolder::open(&settings.out, &settings.cache_dir.join("locks"))?;
    let corpus = fetch::corpus(settings)?;
    let plugins = Plugins::load(settings, corpus.discovery_rule.as_deref(), console)?;
    let python = Python::start(settings, console)?;
    let fetched = fetch::fetch(context, corpus)?;

    let key = |environment: &Environment| {
        let validation = validate::options(settings.level, settings.jobs).digest();
        key::key(settings, &fetched, &plugins.identities(), &environment.digest(), &validation)
    };
    let may_be_there = !settings.retry_failed && !settings.rebuild_index && settings.index != IndexChoice::Force;
    if let Some(environment) = python.ready().filter(|_| may_be_there)
        && let Some(record) = finished(&folder, &key(environment))
    {
        let records = manifest::read_existing(folder.path())?;
        let findings = Findings::of(&records, settings.gate);
        let found = Written { findings, course: record.course, written: 0, unchanged: record.files.len(), removed: 0 };
        return Ok(summary(context, &fetched, found, true));
    }
    let record = RunRecord::begin(arguments, settings.threads);
    folder.begin(&record)?;

    let (indexed, found) = discovered(context, &fetched, &plugins)?;
    let mut made = made(context, &fetched, &plugins, indexed, found.candidates)?;
    made.stages.insert(2, found.course);
    let environment = python.wait(console)?;
    let validated = validate::validate(context, &environment, &made.rules, &made.candidates, &made.assembled)?;
    let mut records = records(context, &made, &validated);
    let contenders = contenders(context, &made, &records);
    let curated = curate::curate(&context.pool, console, &plugins.dedup, &contenders);
    records::decide(&mut records, &curated.decisions);

    let emitting = Stopwatch::start(Stage::Emit);
    let sources: Vec<Source> = fetched.sources.iter().map(|source| source.snapshot.source.clone()).collect();
    let texts = texts(&made, &records);
    let library = emit::Library {
        corpus: &fetched.corpus.name,
        sources: &sources,
        records: &records,
        texts: &texts,
        installed: &environment.distributions,
        gate: settings.gate,
        emitters: &plugins.emit,
    };
    let (files, findings) = emit::files(console, &library);
    made.stages.extend([validated.course, curated.course, emitting.stop("file", files.len(), 0)]);
    let course = clock.course(made.stages, validated.workers);
    let record = RunRecord {
        state: State::Finished,
        key: Some(key(&environment)),
        ended: Some(now()),
        environment: Some(described(&environment)),
        sandbox: protections(&records),
        course: course.clone(),
        ..record
    };
    let changes = folder.write(&files, record)?;
    let found =
        Written { findings, course, written: changes.written, unchanged: changes.unchanged, removed: changes.removed };
    Ok(summary(context, &fetched, found, false))
}

/// The record of the run that left this folder, where it was an equal one and its files are still there.
fn finished(folder: &OutputFolder, key: &str) -> Option<RunRecord> {
    let record = folder.run_record()?;
    let is_equal = record.state == State::Finished && record.key.as_deref() == Some(key);
    (is_equal && folder.is_intact(&record)).then_some(record)
}

pub fn records(context: &Context<'_>, made: &Made, validated: &Validated) -> Vec<BlockRecord> {
    records::records(&records::Found {
        indexed: &made.indexed,
        candidates: &made.candidates,
        assembled: &made.assembled,
        verdicts: &validated.verdicts,
        gate: context.settings.gate,
    })
}

/// The promoted blocks, as deduplication sees them.
pub fn contenders(context: &Context<'_>, made: &Made, records: &[BlockRecord]) -> Vec<Contender> {
    let parts = records.iter().zip(&made.candidates).zip(&made.assembled.bundles);
    let contender = |((record, candidate), bundle): ((&BlockRecord, &Candidate), &Outcome<BundleFile>)| {
        let bundle = bundle.as_ref().ok().filter(|_| is_promoted(record, context.settings.gate))?;
        Some(Contender {
            block: record.block.clone(),
            name: record.name.clone(),
            source: record.source.name.clone(),
            priority: candidate.priority,
            level: record.level,
            code: Arc::clone(&bundle.code),
        })
    };
    parts.filter_map(contender).collect()
}

/// The texts of the bundles that the records place somewhere.
pub fn texts(made: &Made, records: &[BlockRecord]) -> BundleTexts {
    let placed = records.iter().zip(&made.assembled.bundles);
    placed
        .filter_map(|(record, bundle)| Some((record.bundle.clone()?, Arc::clone(&bundle.as_ref().ok()?.text))))
        .collect()
}

/// The environment, as `run.json` tells it.
fn described(environment: &Environment) -> serde_json::Value {
    serde_json::json!({
        "python": environment.python,
        "version": environment.version,
        "torch": environment.torch,
        "origin": environment.origin,
        "digest": environment.digest(),
    })
}

fn protections(records: &[BlockRecord]) -> Vec<String> {
    let all: BTreeSet<&String> = records.iter().flat_map(|record| &record.protections).collect();
    all.into_iter().cloned().collect()
}

/// Measures a whole run.
struct Clock {
    started: Instant,
    cpu: std::time::Duration,
}

impl Clock {
    fn start() -> Self {
        Self { started: Instant::now(), cpu: cpu_time() }
    }

    fn course(&self, stages: Vec<StageCourse>, validation: Option<ValidationCourse>) -> Course {
        Course {
            stages,
            validation,
            wall_seconds: self.started.elapsed().as_secs_f64(),
            cpu_seconds: cpu_time().saturating_sub(self.cpu).as_secs_f64(),
            peak_memory: peak_memory(),
        }
    }
}

/// What stands in the folder now.
struct Written {
    findings: Findings,
    course: Course,
    written: usize,
    unchanged: usize,
    removed: usize,
}

fn summary(context: &Context<'_>, fetched: &Fetched, written: Written, up_to_date: bool) -> Summary {
    let [library, manifest, report] = places(&context.settings.out);
    let Written { findings, course, written, unchanged, removed } = written;
    Summary {
        corpus: fetched.corpus.name.clone(),
        up_to_date,
        missing_sources: fetched.missing.clone(),
        findings,
        course,
        library,
        manifest,
        report,
        written,
        unchanged,
        removed,
    }
}
