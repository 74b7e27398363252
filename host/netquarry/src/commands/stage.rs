//! The commands that run the pipeline up to one stage and list what came out of it.

use netquarry_core::record::BlockRecord;
use serde::Serialize;

use super::Ending;
use super::extract::level_name;
use crate::configuration::Settings;
use crate::console::{Console, Format};
use crate::course::{Stage, human_bytes, human_count};
use crate::driver::context::Context;
use crate::driver::fetch::Fetched;
use crate::driver::index::Indexed;
use crate::driver::plugins::Plugins;
use crate::driver::python::Python;
use crate::driver::{self, Made, curate, discover, fetch, records, resolve, shims, validate};
use crate::findings::{category_name, failure_name, is_promoted, is_removed};
use crate::problem::Problem;
use crate::table::{Align, Table};

/// Runs the stages up to and including `stage`, which is one before the emission, and prints its results.
pub(super) fn up_to(stage: Stage, settings: &Settings, console: &Console) -> Result<Ending, Problem> {
    let context = Context::open(settings, console)?;
    let corpus = fetch::corpus(settings)?;
    // Whatever is wrong with plugins or Python shows before any of the work is done.
    let plugins = match stage {
        Stage::Fetch | Stage::Index => None,
        _ => Some(Plugins::load(settings, corpus.discovery_rule.as_deref(), console)?),
    };
    let python = if stage >= Stage::Validate { Some(Python::start(settings, console)?) } else { None };
    let fetched = fetch::fetch(&context, corpus)?;
    let ending = if fetched.missing.is_empty() { Ending::Done } else { Ending::Incomplete };
    if stage == Stage::Fetch {
        return list(console, &fetched_rows(&fetched), ending);
    }
    let Some(plugins) = plugins else {
        let indexed = driver::index::index(&context, &fetched, &driver::kept_imports(&context, &fetched))?;
        return list_index(console, &indexed, ending);
    };
    let (indexed, found) = driver::discovered(&context, &fetched, &plugins)?;
    if stage == Stage::Discover {
        return list(console, &candidate_rows(&found.candidates), ending);
    }
    if stage == Stage::Resolve {
        let rules = shims::rules(&plugins, &indexed);
        let resolved = resolve::resolve(&context, &indexed, &rules, &found.candidates)?;
        return list(console, &closure_rows(&found.candidates, &resolved.closures), ending);
    }
    let made = driver::made(&context, &fetched, &plugins, indexed, found.candidates)?;
    let Some(python) = python else {
        return list(console, &bundle_rows(&made), ending);
    };
    let environment = python.wait(console)?;
    let validated = validate::validate(&context, &environment, &made.rules, &made.candidates, &made.assembled)?;
    let mut records = driver::records(&context, &made, &validated);
    let below = records.iter().any(|record| !is_promoted(record, settings.gate));
    let ending = match ending {
        Ending::Done if settings.gate_was_asked_for && below => Ending::Findings,
        ending => ending,
    };
    if stage == Stage::Validate {
        return list(console, &verdict_rows(&records), ending);
    }
    let contenders = driver::contenders(&context, &made, &records);
    let curated = curate::curate(&context.pool, console, &plugins.dedup, &contenders);
    records::decide(&mut records, &curated.decisions);
    list(console, &duplicate_rows(&records), ending)
}

/// One line of a listing.
pub(super) trait Row: Serialize {
    const COLUMNS: &'static [(&'static str, Align)];

    fn cells(&self) -> Vec<String>;
}

pub(super) fn list<R: Row>(console: &Console, rows: &[R], ending: Ending) -> Result<Ending, Problem> {
    match console.format {
        Format::Json => console.print_json(&rows)?,
        Format::Human => {
            let mut table = Table::new(R::COLUMNS);
            for row in rows {
                table.row(row.cells());
            }
            console.print(&table.render(|style| console.out_style(style)))?;
        }
    }
    Ok(ending)
}

#[derive(Serialize)]
struct FetchedRow {
    source: String,
    kind: netquarry_core::source::SourceKind,
    version: Option<String>,
    commit: Option<String>,
    files: usize,
    bytes: u64,
    license: Option<String>,
    integrity: netquarry_corpus::snapshot::Integrity,
    identity: String,
    skipped: Vec<netquarry_corpus::snapshot::SkippedFile>,
}

impl Row for FetchedRow {
    const COLUMNS: &'static [(&'static str, Align)] = &[
        ("source", Align::Left),
        ("version", Align::Left),
        ("files", Align::Right),
        ("size", Align::Right),
        ("licence", Align::Left),
    ];

    fn cells(&self) -> Vec<String> {
        let version = self
            .version
            .clone()
            .or_else(|| self.commit.as_ref().map(|commit| commit[..commit.len().min(12)].to_owned()));
        let license = self.license.clone().unwrap_or_else(|| "not known".to_owned());
        vec![
            self.source.clone(),
            version.unwrap_or_else(|| "-".to_owned()),
            human_count(self.files),
            human_bytes(self.bytes),
            license,
        ]
    }
}

fn fetched_rows(fetched: &Fetched) -> Vec<FetchedRow> {
    let row = |snapshot: &netquarry_corpus::snapshot::Snapshot| FetchedRow {
        source: snapshot.source.name.clone(),
        kind: snapshot.source.kind,
        version: snapshot.source.version.clone(),
        commit: snapshot.source.commit.clone(),
        files: snapshot.files.len(),
        bytes: snapshot.files.iter().map(|file| file.bytes).sum(),
        license: snapshot.source.license.clone(),
        integrity: snapshot.integrity,
        identity: snapshot.identity.clone(),
        skipped: snapshot.skipped.clone(),
    };
    fetched.sources.iter().map(|source| row(&source.snapshot)).collect()
}

#[derive(Serialize)]
struct IndexListing<'a> {
    files: usize,
    bytes: u64,
    parsed: usize,
    unreadable: &'a [driver::index::UnreadableFile],
}

fn list_index(console: &Console, indexed: &Indexed, ending: Ending) -> Result<Ending, Problem> {
    if console.format == Format::Json {
        let Indexed { files, bytes, parsed, unreadable, .. } = indexed;
        console.print_json(&IndexListing { files: *files, bytes: *bytes, parsed: *parsed, unreadable })?;
        return Ok(ending);
    }
    let mut text = format!("{} files, {}\n", human_count(indexed.files), human_bytes(indexed.bytes));
    for file in &indexed.unreadable {
        let line = file.line.map(|line| format!(":{line}")).unwrap_or_default();
        text.push_str(&format!("{}:{}{line}: {}\n", file.source, file.path, file.reason));
    }
    console.print(&text)?;
    Ok(ending)
}

#[derive(Serialize)]
struct CandidateRow {
    block: String,
    category: &'static str,
    reason: String,
}

impl Row for CandidateRow {
    const COLUMNS: &'static [(&'static str, Align)] = &[("category", Align::Left), ("block", Align::Left)];

    fn cells(&self) -> Vec<String> {
        vec![self.category.replace('_', " "), self.block.clone()]
    }
}

fn candidate_rows(candidates: &[discover::Candidate]) -> Vec<CandidateRow> {
    let row = |candidate: &discover::Candidate| CandidateRow {
        block: candidate.block.clone(),
        category: category_name(candidate.category),
        reason: candidate.reason.clone(),
    };
    candidates.iter().map(row).collect()
}

#[derive(Serialize)]
struct ClosureRow {
    block: String,
    definitions: usize,
    files: usize,
    unresolved: Vec<String>,
    replaced: usize,
    failure: Option<String>,
}

impl Row for ClosureRow {
    const COLUMNS: &'static [(&'static str, Align)] =
        &[("definitions", Align::Right), ("files", Align::Right), ("block", Align::Left), ("unresolved", Align::Left)];

    fn cells(&self) -> Vec<String> {
        let unresolved = self.failure.clone().unwrap_or_else(|| self.unresolved.join(", "));
        vec![human_count(self.definitions), human_count(self.files), self.block.clone(), unresolved]
    }
}

type Closures = [resolve::Outcome<std::sync::Arc<netquarry_core::closure::Closure>>];

fn closure_rows(candidates: &[discover::Candidate], closures: &Closures) -> Vec<ClosureRow> {
    let row = |(candidate, closure): (
        &discover::Candidate,
        &resolve::Outcome<std::sync::Arc<netquarry_core::closure::Closure>>,
    )| {
        let empty = ClosureRow {
            block: candidate.block.clone(),
            definitions: 0,
            files: 0,
            unresolved: Vec::new(),
            replaced: 0,
            failure: closure.as_ref().err().cloned(),
        };
        let Ok(closure) = closure else { return empty };
        let files: std::collections::BTreeSet<_> =
            closure.definitions.keys().map(|definition| definition.file).collect();
        ClosureRow {
            definitions: closure.definitions.len(),
            files: files.len(),
            unresolved: closure.unresolved.iter().map(|unresolved| unresolved.name.clone()).collect(),
            replaced: closure.replaced.len(),
            ..empty
        }
    };
    candidates.iter().zip(closures).map(row).collect()
}

#[derive(Serialize)]
struct BundleRow {
    block: String,
    lines: Option<u32>,
    sha256: Option<String>,
    requirements: Vec<String>,
    edits: usize,
    unresolved: usize,
    failure: Option<String>,
}

impl Row for BundleRow {
    const COLUMNS: &'static [(&'static str, Align)] = &[
        ("lines", Align::Right),
        ("edits", Align::Right),
        ("unresolved", Align::Right),
        ("block", Align::Left),
        ("requires", Align::Left),
    ];

    fn cells(&self) -> Vec<String> {
        let requires = self.failure.clone().unwrap_or_else(|| self.requirements.join(", "));
        let lines = self.lines.map_or("-".to_owned(), |lines| human_count(lines as usize));
        vec![lines, self.edits.to_string(), self.unresolved.to_string(), self.block.clone(), requires]
    }
}

fn bundle_rows(made: &Made) -> Vec<BundleRow> {
    let row = |(candidate, bundle): (&discover::Candidate, &resolve::Outcome<driver::assemble::BundleFile>)| {
        let file = bundle.as_ref().ok();
        BundleRow {
            block: candidate.block.clone(),
            lines: file.map(|file| file.lines),
            sha256: file.map(|file| file.sha256.clone()),
            requirements: file.map(|file| file.requirements.clone()).unwrap_or_default(),
            edits: file.map_or(0, |file| file.bundle.edits.len()),
            unresolved: file.map_or(0, |file| file.bundle.unresolved.len()),
            failure: bundle.as_ref().err().cloned(),
        }
    };
    made.candidates.iter().zip(&made.assembled.bundles).map(row).collect()
}

#[derive(Serialize)]
struct VerdictRow<'a> {
    block: &'a str,
    level: u8,
    levels: &'a std::collections::BTreeMap<String, netquarry_core::verdict::Outcome>,
    failure: Option<&'a netquarry_core::verdict::Failure>,
}

impl Row for VerdictRow<'_> {
    const COLUMNS: &'static [(&'static str, Align)] =
        &[("level", Align::Left), ("block", Align::Left), ("failure", Align::Left)];

    fn cells(&self) -> Vec<String> {
        let failure = self.failure.map(|failure| {
            format!("{}: {}", failure_name(failure.class), failure.message.lines().next().unwrap_or(""))
        });
        vec![level_name(self.level), self.block.to_owned(), failure.unwrap_or_default()]
    }
}

fn verdict_rows(records: &[BlockRecord]) -> Vec<VerdictRow<'_>> {
    records
        .iter()
        .map(|record| VerdictRow {
            block: &record.block,
            level: record.level,
            levels: &record.levels,
            failure: record.failure.as_ref(),
        })
        .collect()
}

#[derive(Serialize)]
pub(super) struct DuplicateRow {
    pub(super) block: String,
    pub(super) reason: Option<String>,
    pub(super) similarity: Option<f64>,
    pub(super) survivor: Option<String>,
}

impl Row for DuplicateRow {
    const COLUMNS: &'static [(&'static str, Align)] = &[
        ("reason", Align::Left),
        ("similarity", Align::Right),
        ("duplicate", Align::Left),
        ("stands behind", Align::Left),
    ];

    fn cells(&self) -> Vec<String> {
        let similarity = self.similarity.map(|similarity| format!("{similarity:.3}")).unwrap_or_default();
        vec![
            self.reason.clone().unwrap_or_default(),
            similarity,
            self.block.clone(),
            self.survivor.clone().unwrap_or_default(),
        ]
    }
}

fn duplicate_rows(records: &[BlockRecord]) -> Vec<DuplicateRow> {
    let row = |record: &BlockRecord| {
        let decision = record.dedup.as_ref()?;
        Some(DuplicateRow {
            block: record.block.clone(),
            reason: decision.reason.clone(),
            similarity: decision.similarity,
            survivor: decision.survivor.clone(),
        })
    };
    records.iter().filter(|record| is_removed(record)).filter_map(row).collect()
}
