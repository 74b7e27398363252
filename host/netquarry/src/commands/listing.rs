//! What came out of a stage, as a table for people and as JSON for programs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anstyle::Style;
use netquarry_core::closure::Closure;
use netquarry_core::license::policy::{Decision, HeldBack};
use netquarry_core::record::BlockRecord;
use netquarry_core::source::SourceKind;
use netquarry_core::verdict::{Evidence, Failure, Outcome as LevelOutcome};
use netquarry_corpus::snapshot::{Integrity, SkippedFile, Snapshot};
use serde::{Serialize, Serializer as _};

use super::Ending;
use crate::console::{Console, Format};
use crate::driver::Made;
use crate::driver::assemble::BundleFile;
use crate::driver::discover::Candidate;
use crate::driver::fetch::Fetched;
use crate::driver::index::{Indexed, UnreadableFile};
use crate::driver::resolve::Attempt;
use crate::findings::{is_removed, level_name};
use crate::problem::Problem;
use crate::quantity::{human_bytes, human_count};
use crate::table::{Align, Columns, HEADING};

/// One line of a listing.
pub(super) trait Row: Serialize {
    const COLUMNS: &'static [(&'static str, Align)];

    fn cells(&self) -> Vec<String>;
}

pub(super) fn list<R: Row>(console: &Console, rows: &[R], ending: Ending) -> Result<Ending, Problem> {
    list_streamed(console, || rows.iter(), ending)
}

/// Likewise, of rows that are made anew whenever they are asked for, so that they need not be in memory. Where they turn out
/// wrong on the way, they are on standard output by then.
pub(super) fn list_streamed<R: Row, I: Iterator<Item = R>>(
    console: &Console,
    rows: impl Fn() -> I,
    ending: Ending,
) -> Result<Ending, Problem> {
    match console.format {
        Format::Json => console.print_written(|out| {
            let mut serializer = serde_json::Serializer::pretty(&mut *out);
            serializer.collect_seq(rows())?;
            out.write_all(b"\n")
        })?,
        Format::Human => {
            let mut columns = Columns::new(R::COLUMNS);
            rows().for_each(|row| columns.measure(&row.cells()));
            console.print_written(|out| {
                if columns.is_empty() {
                    return out.write_all(b"  none\n");
                }
                out.write_all(columns.heading(console.out_style(HEADING)).as_bytes())?;
                rows().try_for_each(|row| out.write_all(columns.line(&row.cells(), Style::new()).as_bytes()))
            })?;
        }
    }
    Ok(ending)
}

impl<R: Row> Row for &R {
    const COLUMNS: &'static [(&'static str, Align)] = R::COLUMNS;

    fn cells(&self) -> Vec<String> {
        (*self).cells()
    }
}

/// `denied by [licenses]: AGPL-3.0-only`
pub(super) fn held_back(held: &HeldBack) -> String {
    let licenses = held.licenses.join(", ");
    match held.decision {
        Decision::Asked => format!("waits for your word about {licenses}: --allow-license takes it"),
        Decision::Denied => format!("denied by [licenses]: {licenses}"),
    }
}

/// Why a block came no further, in one line: the class of its failure, where it is and what was said, or what was left
/// open; or that what it gives is not the same each time.
pub(super) fn why(failure: Option<&Failure>, evidence: &Evidence) -> String {
    let first = |text: &str| text.lines().next().unwrap_or_default().to_owned();
    match failure {
        Some(Failure { class, message, upstream, .. }) => {
            let place = upstream.as_ref().map(|place| format!(" at {place}")).unwrap_or_default();
            format!("{}{place}: {}", class.name(), first(message))
        }
        None => match evidence.challenge {
            Some(challenge) if !challenge.deterministic => {
                "not_deterministic: two processes answered the same challenge differently".to_owned()
            }
            Some(challenge) if challenge.training.raises => {
                "raises_in_training: in training mode a pass raises for inputs that it takes otherwise".to_owned()
            }
            _ => evidence.open_question().map(first).unwrap_or_default(),
        },
    }
}

#[derive(Serialize)]
pub(super) struct FetchedRow {
    source: String,
    kind: SourceKind,
    version: Option<String>,
    commit: Option<String>,
    files: usize,
    bytes: u64,
    license: Option<String>,
    integrity: Integrity,
    identity: String,
    skipped: Vec<SkippedFile>,
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

pub(super) fn fetched_rows(fetched: &Fetched) -> Vec<FetchedRow> {
    let row = |snapshot: &Snapshot| FetchedRow {
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
    unreadable: &'a [UnreadableFile],
}

pub(super) fn list_index(console: &Console, indexed: &Indexed, ending: Ending) -> Result<Ending, Problem> {
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
pub(super) struct CandidateRow {
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

pub(super) fn candidate_rows(candidates: &[Candidate]) -> Vec<CandidateRow> {
    let row = |candidate: &Candidate| CandidateRow {
        block: candidate.block.clone(),
        category: candidate.category.name(),
        reason: candidate.reason.clone(),
    };
    candidates.iter().map(row).collect()
}

#[derive(Serialize)]
pub(super) struct ClosureRow {
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

pub(super) fn closure_rows(candidates: &[Candidate], closures: &[Attempt<Arc<Closure>>]) -> Vec<ClosureRow> {
    let row = |(candidate, closure): (&Candidate, &Attempt<Arc<Closure>>)| {
        let empty = ClosureRow {
            block: candidate.block.clone(),
            definitions: 0,
            files: 0,
            unresolved: Vec::new(),
            replaced: 0,
            failure: closure.as_ref().err().cloned(),
        };
        let Ok(closure) = closure else { return empty };
        let files: BTreeSet<_> = closure.definitions.keys().map(|definition| definition.file).collect();
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
pub(super) struct BundleRow {
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

pub(super) fn bundle_rows(made: &Made) -> Vec<BundleRow> {
    let row = |(candidate, bundle): (&Candidate, &Attempt<BundleFile>)| {
        let file = bundle.as_ref().ok();
        BundleRow {
            block: candidate.block.clone(),
            lines: file.map(|file| file.lines),
            sha256: file.map(|file| file.sha256.clone()),
            requirements: file.map(|file| file.requirements.clone()).unwrap_or_default(),
            edits: file.map_or(0, |file| file.edits),
            unresolved: file.map_or(0, |file| file.bundle.unresolved.len()),
            failure: bundle.as_ref().err().cloned(),
        }
    };
    made.candidates.iter().zip(&made.assembled.bundles).map(row).collect()
}

#[derive(Serialize)]
pub(super) struct VerdictRow<'a> {
    block: &'a str,
    level: u8,
    levels: &'a BTreeMap<String, LevelOutcome>,
    failure: Option<&'a Failure>,
    evidence: &'a Evidence,
}

impl Row for VerdictRow<'_> {
    const COLUMNS: &'static [(&'static str, Align)] =
        &[("level", Align::Left), ("block", Align::Left), ("why no further", Align::Left)];

    fn cells(&self) -> Vec<String> {
        vec![level_name(self.level), self.block.to_owned(), why(self.failure, self.evidence)]
    }
}

pub(super) fn verdict_rows(records: &[BlockRecord]) -> Vec<VerdictRow<'_>> {
    records
        .iter()
        .map(|record| VerdictRow {
            block: &record.block,
            level: record.level,
            levels: &record.levels,
            failure: record.failure.as_ref(),
            evidence: &record.evidence,
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

pub(super) fn duplicate_rows(records: &[BlockRecord]) -> Vec<DuplicateRow> {
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
