//! The whole pipeline.

use std::collections::BTreeSet;
use std::path::Path;

use netquarry_core::record::BlockRecord;

use super::context::Context;
use super::fetch::{self, Fetched};
use super::key;
use super::plugins::Plugins;
use super::python::Python;
use super::{contenders, curated, discovered, files, made, protections, records, retrieved, texts, tier, validate};
use crate::arguments::IndexChoice;
use crate::course::{Clock, Stage, Stopwatch};
use crate::environment::Environment;
use crate::findings::{Findings, is_removed};
use crate::library::costs::{self, FailedCalls};
use crate::library::folder::{Changes, OutputFolder};
use crate::library::manifest;
use crate::library::records::Details;
use crate::library::reproduction::Results;
use crate::library::run_record::{Contents, Manner, RunRecord, State, now};
use crate::problem::Problem;
use crate::quantity::human_things;
use crate::summary::{Summary, places};

/// What has to be there before any of the work is done.
struct Start {
    plugins: Plugins,
    python: Python,
    fetched: Fetched,
}

/// Makes the library, or finds that it is there already. `arguments` is the command line, for the record.
pub fn run(context: &Context<'_>, arguments: Vec<String>) -> Result<Summary, Problem> {
    let clock = Clock::start();
    let settings = context.settings;
    let folder = OutputFolder::open(&settings.out, Contents::Library, &settings.cache_dir.join("locks"))?;
    let corpus = fetch::corpus(settings)?;
    let plugins = Plugins::load(settings, corpus.discovery_rule.as_deref(), context.console)?;
    // Where an environment has to be made, that begins now and goes on beside the next stages.
    let python = Python::start(settings, context.console)?;
    let start = Start { plugins, python, fetched: fetch::fetch(context, corpus)? };
    match up_to_date(context, &folder, &start)? {
        Some(summary) => Ok(summary),
        None => {
            let record = RunRecord::begin(arguments, settings.threads);
            let origin = Some(fetch::origin(settings)?);
            let manner = Some(Manner::of(settings));
            afresh(context, &folder, start, RunRecord { origin, manner, ..record }, &clock)
        }
    }
}

/// What an equal run has found, where it left everything as it would be made now.
fn up_to_date(context: &Context<'_>, folder: &OutputFolder, start: &Start) -> Result<Option<Summary>, Problem> {
    let settings = context.settings;
    // Nothing is there of the calls that failed the last time, so that they have to fail again to be kept.
    let keeps_calls = settings.kept_calls.is_some();
    if settings.retry_failed || settings.rebuild_index || settings.index == IndexChoice::Force || keeps_calls {
        return Ok(None);
    }
    // An environment that has yet to be made has validated nothing.
    let Some(environment) = start.python.ready() else { return Ok(None) };
    let key = key(context, &start.fetched, &start.plugins, environment)?;
    let is_equal = |record: &RunRecord| record.state == State::Finished && record.key.as_ref() == Some(&key);
    match folder.run_record().filter(|record| is_equal(record) && folder.is_intact(record)) {
        Some(record) => {
            let findings = Findings::of(&small_records(folder.path())?, settings.gate);
            let changes = Changes { unchanged: record.files.len(), ..Changes::default() };
            let summary = summary(context, &start.fetched, findings, &record);
            Ok(Some(Summary { up_to_date: true, changes, ..summary }))
        }
        None => Ok(None),
    }
}

/// The records of a library without what is large of them.
fn small_records(folder: &Path) -> Result<Vec<BlockRecord>, Problem> {
    let small = |record: Result<BlockRecord, Problem>| {
        record.map(|mut record| {
            drop(Details::taken(&mut record));
            record
        })
    };
    manifest::read_existing(folder)?.map(small).collect()
}

fn afresh(
    context: &Context<'_>,
    folder: &OutputFolder,
    start: Start,
    record: RunRecord,
    clock: &Clock,
) -> Result<Summary, Problem> {
    tell_replaced(context, folder, &record);
    folder.begin(&record)?;
    let Start { plugins, python, fetched } = start;
    let settings = context.settings;
    let (indexed, found) = discovered(context, &fetched, &plugins)?;
    let mut made = made(context, &fetched, &plugins, indexed, found)?;
    let preparing = python.ready().is_none().then(|| Stopwatch::start(Stage::Prepare));
    let environment = python.wait(context.console)?;
    made.stages.extend(preparing.map(|watch| watch.stop("environment", 1, 0)));
    let validated = validate::validate(context, &environment, &fetched.sources, &made)?;
    let mut records = records(context, &made, &validated);
    let (contenders, texts) = (contenders(context, &made, &records), texts(&made, &records));
    // The index and all that the bundles were made with are not needed from here on.
    let mut stages = std::mem::take(&mut made.stages);
    drop(made);
    let curated = curated(context, &plugins, &contenders)?;
    super::records::decide(records.small_mut(), &curated.decisions());
    context.spool.check()?;
    drop(contenders);

    let emitting = Stopwatch::start(Stage::Emit);
    tell_left_out(context, folder, records.small());
    let (files, findings) = files(context, &fetched, &plugins, &environment, &records, &texts)?;
    stages.extend([validated.course, curated.course, emitting.stop("file", files.len(), 0)]);
    let record = RunRecord {
        state: State::Finished,
        // What could not be had may be there the next time: an equal run then is not in vain.
        key: match validated.is_final {
            true => Some(key(context, &fetched, &plugins, &environment)?),
            false => None,
        },
        ended: Some(now()),
        environment: Some(environment.described()),
        retrieved: retrieved(&fetched),
        installed: super::installed(&records),
        sandbox: protections(&records),
        tier: tier(&records),
        course: clock.course(stages, validated.workers),
        ingredients: Some(key::ingredients(settings, &fetched, &plugins)?),
        results: Some(Results::of(records.whole(), &files)?),
        costs: costs::measured(&plugins.meter),
        ..record
    };
    let summary = summary(context, &fetched, findings, &record);
    Ok(Summary { changes: folder.write(&files, record)?, ..summary })
}

/// A library of another corpus goes: whoever wanted both needs a second folder.
fn tell_replaced(context: &Context<'_>, folder: &OutputFolder, record: &RunRecord) {
    let Some(now) = &record.origin else { return };
    let earlier = folder.run_record().and_then(|earlier| earlier.origin);
    if let Some(earlier) = earlier.filter(|earlier| !earlier.is_of_corpus_of(now)) {
        context.console.caution(&format!(
            "`{}` holds a library of the corpus {}, which one of {} replaces; --out names another folder",
            folder.path().display(),
            earlier.corpus,
            now.corpus
        ));
    }
}

/// Blocks that `extract` had added go where a whole run does not keep them; that is no secret.
fn tell_left_out(context: &Context<'_>, folder: &OutputFolder, records: &[BlockRecord]) {
    let extracted = folder.run_record().map(|earlier| earlier.extracted).unwrap_or_default();
    let is_kept = |record: &&BlockRecord| record.bundle.is_some() && !is_removed(record);
    let kept: BTreeSet<&str> = records.iter().filter(is_kept).map(|record| record.block.as_str()).collect();
    let left_out: Vec<String> = extracted.into_iter().filter(|block| !kept.contains(block.as_str())).collect();
    if !left_out.is_empty() {
        context.console.caution(&format!(
            "{} that `extract` had added went, being duplicates or no part of this corpus: {}",
            human_things(left_out.len(), "block"),
            left_out.join(", ")
        ));
    }
}

fn key(
    context: &Context<'_>,
    fetched: &Fetched,
    plugins: &Plugins,
    environment: &Environment,
) -> Result<String, Problem> {
    let settings = context.settings;
    let validation = validate::options(settings, settings.level, environment)?.digest();
    Ok(key::key(settings, fetched, &plugins.identities(), &environment.digest(), &validation))
}

/// What `record` and the findings come to, before any file has changed.
fn summary(context: &Context<'_>, fetched: &Fetched, findings: Findings, record: &RunRecord) -> Summary {
    let [library, manifest, report] = places(&context.settings.out);
    Summary {
        corpus: fetched.corpus.name.clone(),
        up_to_date: false,
        missing_sources: fetched.missing.clone(),
        failed_calls: FailedCalls::among(&record.costs),
        findings,
        course: record.course.clone(),
        library,
        manifest,
        report,
        changes: Changes::default(),
    }
}
