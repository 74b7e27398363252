//! From what the stages found out about a candidate to its record.

use std::collections::HashMap;
use std::mem;

use netquarry_core::bundle::Bundle;
use netquarry_core::record::{
    BlockRecord, ClosureRecord, DedupDecision, DedupOutcome, EditRecord, ReplacedRecord, UnknownKeyRecord,
    UnresolvedName,
};
use netquarry_core::verdict::{Failure, FailureClass, Level, Outcome as LevelOutcome, Verdict};

use super::assemble::{Assembled, BundleFile, Origin};
use super::discover::Candidate;
use super::index::Indexed;
use super::resolve::Attempt;
use super::signature;

/// What a record is made from.
pub struct Found<'a> {
    pub indexed: &'a Indexed,
    pub candidates: &'a [Candidate],
    pub verdicts: &'a [Option<Verdict>],
    pub gate: Level,
}

/// The records of all candidates, in their order, before deduplication. What only records tell moves out of the bundles:
/// it is several times as large as their text.
pub fn records(found: &Found<'_>, assembled: &mut Assembled) -> Vec<BlockRecord> {
    let parts = found.candidates.iter().zip(&mut assembled.bundles).zip(&assembled.origins).zip(found.verdicts);
    parts
        .map(|(((candidate, bundle), origin), verdict)| record(found, candidate, bundle, origin, verdict.as_ref()))
        .collect()
}

fn record(
    found: &Found<'_>,
    candidate: &Candidate,
    bundle: &mut Attempt<BundleFile>,
    origin: &Origin,
    verdict: Option<&Verdict>,
) -> BlockRecord {
    let unvalidated = Verdict::default();
    let verdict_or_none = verdict.unwrap_or(&unvalidated);
    let level = verdict_or_none.level();
    let failure = match bundle {
        Ok(_) => verdict_or_none.failure.clone(),
        Err(reason) => Some(not_assembled(reason, origin)),
    };
    let parts = bundle.as_mut().map(|file| take_told(&mut file.bundle)).unwrap_or_default();
    let file = bundle.as_ref().ok();
    BlockRecord {
        block: candidate.block.clone(),
        name: candidate.name.clone(),
        category: candidate.category,
        discovered_by: candidate.reason.clone(),
        source: origin.source.clone(),
        bundle: file.map(|_| bundle_path(candidate, level >= found.gate as u8)),
        sha256: file.map(|file| file.sha256.clone()),
        lines: file.map(|file| file.lines),
        requirements: file.map(|file| file.requirements.clone()).unwrap_or_default(),
        operator_imports: file.map(|file| file.operator_packages.clone()).unwrap_or_default(),
        unresolved: parts.unresolved,
        unknown_keys: parts.unknown_keys,
        replaced: parts.replaced,
        edits: parts.edits,
        closure: parts.closure,
        constructor: signature::parameters(found.indexed, candidate.target.variable, "__init__"),
        forward: signature::parameters(found.indexed, candidate.target.variable, "forward"),
        level,
        levels: levels(verdict_or_none),
        failure,
        evidence: verdict_or_none.evidence.clone(),
        tainted: verdict_or_none.tainted,
        protections: verdict_or_none.protections.clone(),
        dedup: None,
        swhid: origin.swhid.clone(),
        license: file.and_then(|file| file.license.clone()),
    }
}

/// What a bundle tells its record and nobody else.
#[derive(Default)]
struct Told {
    unresolved: Vec<UnresolvedName>,
    unknown_keys: Vec<UnknownKeyRecord>,
    replaced: Vec<ReplacedRecord>,
    edits: Vec<EditRecord>,
    closure: Vec<ClosureRecord>,
}

fn take_told(bundle: &mut Bundle) -> Told {
    Told {
        unresolved: mem::take(&mut bundle.unresolved),
        unknown_keys: mem::take(&mut bundle.unknown_keys),
        replaced: mem::take(&mut bundle.replaced),
        edits: mem::take(&mut bundle.edits),
        closure: mem::take(&mut bundle.closure),
    }
}

/// Every level has its outcome in a record, tried or not.
fn levels(verdict: &Verdict) -> std::collections::BTreeMap<String, LevelOutcome> {
    Level::ALL.into_iter().map(|level| (level.name().to_owned(), verdict.outcome(level))).collect()
}

fn not_assembled(reason: &str, origin: &Origin) -> Failure {
    let [line, _] = origin.source.lines;
    Failure {
        class: FailureClass::Harness,
        message: reason.to_owned(),
        upstream: Some(format!("{}:{line}", origin.source.path)),
    }
}

/// Relative to the output folder.
pub fn bundle_path(candidate: &Candidate, is_promoted: bool) -> String {
    let folder = if is_promoted { "blocks" } else { "failed" };
    format!("{folder}/{}.py", candidate.stem)
}

/// Enters the decisions of deduplication. A duplicate has no file.
pub fn decide(records: &mut [BlockRecord], decisions: &HashMap<String, DedupDecision>) {
    for record in records {
        let Some(decision) = decisions.get(&record.block) else { continue };
        if decision.decision == DedupOutcome::Removed {
            record.bundle = None;
        }
        record.dedup = Some(decision.clone());
    }
}
