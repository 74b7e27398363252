//! The order of the stages, what runs beside what, and what is taken from an earlier run.
//!
//! ```text
//! fetch ─► index ─► discover ─► resolve ─► assemble ─► validate ─► curate ─► emit
//!    └──── a Python environment is made, where none is there ────┘
//! ```
//!
//! Every stage is a function from the results of earlier ones. What a later run can use again is kept as it comes: fetched
//! sources in the cache folder, facts, verdicts and fingerprints in the store. A run that ends early therefore loses only
//! the pieces that were in the making, and resumption is nothing but running again.

pub mod archive;
pub mod assemble;
pub mod audit;
mod blame;
pub mod context;
pub mod curate;
pub mod discover;
pub mod emit;
pub mod extract;
pub mod fetch;
pub mod for_sources;
mod import_names;
mod in_parallel;
pub mod index;
mod key;
pub mod layers;
pub mod plugins;
pub mod provision;
pub mod python;
pub mod records;
pub mod redecide;
pub mod registries;
pub mod resolve;
pub mod run;
pub mod select;
pub mod shims;
mod signature;
mod sites;
mod texts;
pub mod upstream;
pub mod validate;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use netquarry_core::closure::Rules;
use netquarry_core::record::BlockRecord;
use netquarry_core::source::Source;
use netquarry_core::verdict::Tier;

use crate::course::{Stage, StageCourse, Stopwatch};
use crate::environment::Environment;
use crate::findings::{Findings, is_promoted};
use crate::library::folder::Files;
use crate::library::records::Records;
use crate::problem::Problem;
use archive::FingerprintArchive;
use assemble::{Assembled, BundleFile};
use context::Context;
use curate::{Contender, Curated, Kernels};
use discover::{Candidate, Discovered};
use emit::BundleTexts;
use fetch::{Fetched, FetchedSource};
use index::Indexed;
use plugins::Plugins;
use resolve::Attempt;
use validate::Validated;

/// The results of the stages that need no Python, for the candidates that were chosen.
pub struct Made {
    pub indexed: Indexed,
    pub candidates: Vec<Candidate>,
    pub rules: Rules,
    pub assembled: Assembled,
    /// What these stages and those before them took, in their order.
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

/// Resolves and assembles the candidates.
pub fn made(
    context: &Context<'_>,
    fetched: &Fetched,
    plugins: &Plugins,
    indexed: Indexed,
    discovered: Discovered,
) -> Result<Made, Problem> {
    let Discovered { candidates, course } = discovered;
    let (rules, failures) = shims::rules(plugins, &indexed);
    let packages = assemble::packages(&fetched.sources, &indexed.index);
    let task = context.console.task("Assembling", "steps", 2 * candidates.len() as u64);
    let mut resolving = Stopwatch::start(Stage::Resolve).stop("block", 0, 0);
    let mut assembled = Assembled::none();
    for batch in candidates.chunks(BATCH) {
        let resolved = resolve::closures(context, &indexed, &rules, batch, &task)?;
        resolving.add(&resolved.course);
        assembled.extend(assemble::bundles(context, &packages, &indexed, batch, &resolved.closures, &task)?);
    }
    task.finish("Resolved", &resolve::told(&resolving));
    failures.report(context.console);
    context.console.status("Assembled", &assembled.told());
    let before = [fetched.course.clone(), indexed.course.clone(), course];
    let stages = before.into_iter().chain([resolving, assembled.course.clone()]).collect();
    Ok(Made { indexed, candidates, rules, assembled, stages })
}

/// So many blocks are resolved and then assembled at a time: closures are large, and only these are in memory.
const BATCH: usize = 256;

/// The records of all candidates, before deduplication.
pub fn records(context: &Context<'_>, made: &Made, validated: &Validated) -> Records {
    let found = records::Found {
        indexed: &made.indexed,
        candidates: &made.candidates,
        assembled: &made.assembled,
        verdicts: &validated.verdicts,
        structures: &validated.structures,
        installed: &validated.installed,
        gate: context.settings.gate,
        licenses: &context.settings.licenses,
    };
    records::records(&context.spool, &found)
}

/// The promoted blocks, as deduplication sees them.
pub fn contenders(context: &Context<'_>, made: &Made, records: &Records) -> Vec<Contender> {
    let parts = records.small().iter().zip(&made.candidates).zip(&made.assembled.bundles);
    let contender = |((record, candidate), bundle): ((&BlockRecord, &Candidate), &Attempt<BundleFile>)| {
        let bundle = bundle.as_ref().ok().filter(|_| is_promoted(record, context.settings.gate))?;
        Some(Contender {
            block: record.block.clone(),
            name: record.name.clone(),
            source: record.source.name.clone(),
            priority: candidate.priority,
            level: record.level,
            accuracy: None,
            code: bundle.code(&context.spool),
        })
    };
    parts.filter_map(contender).collect()
}

/// What the strategies have decided about them.
///
/// # Errors
/// A code could not be read back from the spool: decisions without it are none. Or the store cannot be
/// read.
pub fn curated(context: &Context<'_>, plugins: &Plugins, contenders: &[Contender]) -> Result<Curated, Problem> {
    let fingerprints = FingerprintArchive::new(&context.store)?;
    let kernels = Kernels { pool: &context.pool, spool: &context.spool, archive: Arc::clone(&fingerprints) as _ };
    let curated = curate::curate(&kernels, context.console, &plugins.dedup, contenders);
    context.spool.check()?;
    // The next run has to compute them, and that is all.
    if let Err(error) = fingerprints.finish() {
        context.console.warn(&Problem::from(error));
    }
    Ok(curated)
}

/// The texts of the bundles that the records place somewhere, by block.
pub fn texts(made: &Made, records: &Records) -> BundleTexts {
    let placed = records.small().iter().zip(&made.assembled.bundles);
    placed.filter_map(|(record, bundle)| Some((record.block.clone(), bundle.as_ref().ok()?.text))).collect()
}

/// Everything that stands in the output folder but for `run.json`, and what the records show.
pub fn files<'a>(
    context: &'a Context<'_>,
    fetched: &Fetched,
    plugins: &Plugins,
    environment: &Environment,
    records: &'a Records,
    texts: &BundleTexts,
) -> Result<(Files<'a>, Findings), Problem> {
    let sources: Vec<Source> = fetched.sources.iter().map(|source| source.snapshot.source.clone()).collect();
    let library = emit::Library {
        corpus: &fetched.corpus.name,
        sources: &sources,
        fetched: &fetched.sources,
        records,
        texts,
        environment,
        gate: context.settings.gate,
        emitters: &plugins.emit,
    };
    emit::files(context, &library)
}

/// What was installed for any of the blocks, `name==version`.
fn installed(records: &Records) -> Vec<String> {
    let all = records.small().iter().flat_map(|record| &record.installed);
    let distinct: BTreeSet<String> = all.map(|it| format!("{}=={}", it.name, it.version)).collect();
    distinct.into_iter().collect()
}

/// When each source was fetched, by its name.
fn retrieved(fetched: &Fetched) -> BTreeMap<String, String> {
    let moment = |source: &FetchedSource| {
        let fetched = jiff::Timestamp::try_from(source.snapshot.fetched?).ok()?;
        Some((source.snapshot.source.name.clone(), fetched.to_string()))
    };
    fetched.sources.iter().filter_map(moment).collect()
}

/// What confined the block that was confined the least; `None` where none ran.
fn tier(records: &Records) -> Option<Tier> {
    records.small().iter().filter_map(|record| record.tier).min()
}

/// The protections that were in force for any of the blocks.
fn protections(records: &Records) -> Vec<String> {
    let all: BTreeSet<&String> = records.small().iter().flat_map(|record| &record.protections).collect();
    all.into_iter().cloned().collect()
}
