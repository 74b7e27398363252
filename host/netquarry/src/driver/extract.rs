//! Single blocks, lifted out by name and added to what the output folder holds.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use netquarry_core::record::BlockRecord;

use super::context::Context;
use super::discover::{Candidate, Discovered};
use super::emit::BundleTexts;
use super::plugins::Plugins;
use super::python::Python;
use super::{fetch, select, validate};
use crate::course::{Clock, Stage, Stopwatch};
use crate::library::costs::{self, FailedCalls};
use crate::library::folder::OutputFolder;
use crate::library::manifest;
use crate::library::records::Records;
use crate::library::run_record::{Contents, CorpusOrigin, Manner, RunRecord, State, now};
use crate::problem::Problem;

/// What to do with a name that several blocks bear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ambiguity {
    /// Answer with all of them and take none.
    Ask,
    TakeAll,
    TakeFirst,
}

/// What became of the names.
pub struct Extracted {
    /// Sorted by block.
    pub records: Vec<BlockRecord>,
    pub ambiguous: Vec<AmbiguousName>,
    pub unknown: Vec<UnknownName>,
    pub missing_sources: usize,
    pub failed_calls: Vec<FailedCalls>,
}

/// A name that several blocks bear, the likeliest first.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct AmbiguousName {
    pub name: String,
    pub candidates: Vec<String>,
}

/// A name that no block bears.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct UnknownName {
    pub name: String,
    /// Blocks with names that are near to it.
    pub similar: Vec<String>,
}

/// Extracts the blocks that `names` mean into the output folder, beside what it holds.
pub fn extract(
    context: &Context<'_>,
    names: &[String],
    ambiguity: Ambiguity,
    arguments: Vec<String>,
) -> Result<Extracted, Problem> {
    let clock = Clock::start();
    let (settings, console) = (context.settings, context.console);
    let folder = OutputFolder::open(&settings.out, Contents::Library, &settings.cache_dir.join("locks"))?;
    let corpus = fetch::corpus(settings)?;
    let plugins = Plugins::load(settings, corpus.discovery_rule.as_deref(), console)?;
    let fetched = fetch::fetch(context, corpus)?;
    let (indexed, found) = super::discovered(context, &fetched, &plugins)?;
    let chosen = choose(names, &found.candidates, ambiguity);
    let mut extracted = Extracted {
        records: Vec::new(),
        ambiguous: chosen.ambiguous,
        unknown: chosen.unknown,
        missing_sources: fetched.missing.len(),
        failed_calls: Vec::new(),
    };
    if chosen.candidates.is_empty() {
        extracted.failed_calls = FailedCalls::among(&costs::measured(&plugins.meter));
        return Ok(extracted);
    }
    folder.make()?;
    let python = Python::start(settings, console)?;
    let mut present = Records::new(&context.spool);
    for record in manifest::read(&settings.out)?.into_iter().flatten() {
        present.push_whole(record?)?;
    }
    let candidates = away_from(present.small(), chosen.candidates);
    let mut made = super::made(context, &fetched, &plugins, indexed, Discovered { candidates, ..found })?;
    let environment = python.wait(console)?;
    let validated = validate::validate(context, &environment, &fetched.sources, &made)?;
    let new = super::records(context, &made, &validated);
    extracted.records = new.whole().collect::<Result<_, _>>()?;
    let texts = super::texts(&made, &new);
    let records = present.replaced_by(new);
    let texts = beside(context, records.small(), texts)?;

    let emitting = Stopwatch::start(Stage::Emit);
    let (files, _) = super::files(context, &fetched, &plugins, &environment, &records, &texts)?;
    made.stages.extend([validated.course, emitting.stop("file", files.len(), 0)]);
    let record = RunRecord::begin(arguments, settings.threads);
    let costs = costs::measured(&plugins.meter);
    extracted.failed_calls = FailedCalls::among(&costs);
    let earlier = folder.run_record().map(|earlier| (earlier.extracted, earlier.origin, earlier.manner, earlier.costs));
    let (earlier, origin, manner, earlier_costs) = earlier.unwrap_or_default();
    tell_of_another_corpus(context, origin.as_ref())?;
    let new = extracted.records.iter().map(|record| record.block.clone());
    let all: BTreeSet<String> = earlier.into_iter().chain(new).collect();
    let record = RunRecord {
        extracted: all.into_iter().collect(),
        // Blocks of another corpus do not make it the library's.
        origin: Some(origin.map_or_else(|| fetch::origin(settings), Ok)?),
        manner: manner.or_else(|| Some(Manner::of(settings))),
        state: State::Extended,
        ended: Some(now()),
        environment: Some(environment.described()),
        retrieved: super::retrieved(&fetched),
        course: clock.course(made.stages, validated.workers),
        installed: super::installed(&records),
        sandbox: super::protections(&records),
        tier: super::tier(&records),
        costs: costs::renewed(earlier_costs, costs),
        ..record
    };
    folder.write(&files, record)?;
    Ok(extracted)
}

/// What goes on with a library takes the corpus of its record.
fn tell_of_another_corpus(context: &Context<'_>, library: Option<&CorpusOrigin>) -> Result<(), Problem> {
    let now = fetch::origin(context.settings)?;
    if let Some(library) = library.filter(|library| !library.is_of_corpus_of(&now)) {
        context.console.caution(&format!(
            "`{}` is a library of the corpus {}, and what is added is of {}: `audit` and `dedup run --apply` know the first \
             alone; --out names another folder",
            context.settings.out.display(),
            library.corpus,
            now.corpus
        ));
    }
    Ok(())
}

struct Chosen {
    /// Sorted by block, each once.
    candidates: Vec<Candidate>,
    ambiguous: Vec<AmbiguousName>,
    unknown: Vec<UnknownName>,
}

fn choose(names: &[String], candidates: &[Candidate], ambiguity: Ambiguity) -> Chosen {
    let mut taken: BTreeMap<String, Candidate> = BTreeMap::new();
    let (mut ambiguous, mut unknown) = (Vec::new(), Vec::new());
    for name in names {
        let ranked = select::ranked(name, candidates);
        let take: &[&Candidate] = match (select::exact(name, &ranked), ambiguity) {
            (Some(candidate), _) => &[candidate],
            (None, Ambiguity::TakeAll) => &ranked,
            (None, Ambiguity::TakeFirst) => &ranked[..ranked.len().min(1)],
            (None, Ambiguity::Ask) => &[],
        };
        taken.extend(take.iter().map(|candidate| (candidate.block.clone(), (*candidate).clone())));
        if ranked.is_empty() {
            let blocks = candidates.iter().map(|candidate| (candidate.name.as_str(), candidate.block.as_str()));
            unknown.push(UnknownName { name: name.clone(), similar: select::similar(name, blocks) });
        } else if take.is_empty() {
            let candidates = ranked.iter().map(|candidate| candidate.block.clone()).collect();
            ambiguous.push(AmbiguousName { name: name.clone(), candidates });
        }
    }
    Chosen { candidates: taken.into_values().collect(), ambiguous, unknown }
}

/// The candidates, with other file names where a block of another corpus has theirs already.
fn away_from(present: &[BlockRecord], mut candidates: Vec<Candidate>) -> Vec<Candidate> {
    let replaced: BTreeSet<String> = candidates.iter().map(|candidate| candidate.block.clone()).collect();
    let stem = |path: &str| Path::new(path).file_stem().map(|stem| stem.to_string_lossy().to_lowercase());
    let others = present.iter().filter(|record| !replaced.contains(&record.block));
    let taken: BTreeSet<String> = others.filter_map(|record| stem(record.bundle.as_deref()?)).collect();
    for candidate in &mut candidates {
        if taken.contains(&candidate.stem.to_lowercase()) {
            candidate.stem = crate::library::names::apart(&candidate.stem, &candidate.block);
        }
    }
    candidates
}

/// The texts of all bundles of the records: those at hand, and the others as they lie in the output folder.
fn beside(context: &Context<'_>, records: &[BlockRecord], mut texts: BundleTexts) -> Result<BundleTexts, Problem> {
    for record in records {
        if let Some(bundle) = record.bundle.as_ref().filter(|_| !texts.contains_key(&record.block)) {
            let path = context.settings.out.join(bundle);
            let text = fs::read_to_string(&path).map_err(|error| {
                Problem::io("read a bundle that the manifest lists", &path, error)
                    .help("`netquarry run` makes the library anew")
            })?;
            texts.insert(record.block.clone(), context.spool.put_text(&text)?);
        }
    }
    Ok(texts)
}
