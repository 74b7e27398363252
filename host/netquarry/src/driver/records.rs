//! From what the stages found out about a candidate to its record.

use std::collections::HashMap;

use netquarry_core::record::{BlockRecord, DedupDecision, DedupOutcome, InstalledDistribution};
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
    /// What it tells of a bundle's closure and edits moves into the record: it is most of what a bundle takes.
    pub assembled: &'a mut Assembled,
    pub verdicts: &'a [Option<Verdict>],
    /// What was installed for each.
    pub installed: &'a [Vec<InstalledDistribution>],
    pub gate: Level,
}

/// The records of all candidates, in their order, before deduplication.
pub fn records(found: Found<'_>) -> Vec<BlockRecord> {
    let Found { indexed, candidates, assembled, verdicts, installed, gate } = found;
    let parts = candidates.iter().zip(&mut assembled.bundles).zip(&assembled.origins);
    let facts = |candidate| Facts { indexed, candidate, gate };
    let records = parts.zip(verdicts).zip(installed);
    records
        .map(|((((candidate, bundle), origin), verdict), installed)| BlockRecord {
            installed: installed.clone(),
            ..record(&facts(candidate), bundle, origin, verdict.as_ref())
        })
        .collect()
}

/// What is known of a candidate before it becomes a bundle.
struct Facts<'a> {
    indexed: &'a Indexed,
    candidate: &'a Candidate,
    gate: Level,
}

fn record(
    facts: &Facts<'_>,
    bundle: &mut Attempt<BundleFile>,
    origin: &Origin,
    verdict: Option<&Verdict>,
) -> BlockRecord {
    let Facts { indexed, candidate, gate } = *facts;
    let unvalidated = Verdict::default();
    let verdict_or_none = verdict.unwrap_or(&unvalidated);
    let level = verdict_or_none.level();
    let failure = match bundle {
        Ok(_) => verdict_or_none.failure.clone(),
        Err(reason) => Some(not_assembled(reason, origin)),
    };
    let bundled = bundle.as_mut().map(|file| std::mem::take(&mut file.bundle)).unwrap_or_default();
    let file = bundle.as_ref().ok();
    BlockRecord {
        block: candidate.block.clone(),
        name: candidate.name.clone(),
        category: candidate.category,
        discovered_by: candidate.reason.clone(),
        source: origin.source.clone(),
        bundle: file.map(|_| bundle_path(candidate, level >= gate as u8)),
        sha256: file.map(|file| file.sha256.clone()),
        lines: file.map(|file| file.lines),
        requirements: file.map(|file| file.requirements.clone()).unwrap_or_default(),
        assumed_requirements: file.map(|file| file.assumed_requirements.clone()).unwrap_or_default(),
        installed: Vec::new(),
        operator_imports: file.map(|file| file.operator_packages.clone()).unwrap_or_default(),
        unresolved: bundled.unresolved,
        unknown_keys: bundled.unknown_keys,
        replaced: bundled.replaced,
        edits: bundled.edits,
        closure: bundled.closure,
        constructor: signature::parameters(indexed, candidate.target.variable, "__init__"),
        forward: signature::parameters(indexed, candidate.target.variable, "forward"),
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
        hint: None,
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
