//! From what the stages found out about a candidate to its record.

use std::collections::BTreeMap;
use std::sync::Arc;

use netquarry_core::license::policy::Policy;
use netquarry_core::record::{BlockRecord, DedupDecision, DedupOutcome, InstalledDistribution};
use netquarry_core::structure::Structure;
use netquarry_core::verdict::{Failure, FailureClass, Level, Outcome as LevelOutcome, Verdict};

use super::assemble::{Assembled, BundleFile, Origin};
use super::discover::Candidate;
use super::index::Indexed;
use super::resolve::Attempt;
use super::signature;
use crate::library::bundles::BundleFolder;
use crate::library::records::{Records, Rest};
use crate::spool::{Spool, Spooled};

/// What a record is made from.
pub struct Found<'a> {
    pub indexed: &'a Indexed,
    pub candidates: &'a [Candidate],
    pub assembled: &'a Assembled,
    pub verdicts: &'a [Option<Verdict>],
    /// What each instance is made of.
    pub structures: &'a [Option<Spooled<Structure>>],
    /// What was installed for each.
    pub installed: &'a [Vec<InstalledDistribution>],
    pub gate: Level,
    /// Which licences the user takes.
    pub licenses: &'a Policy,
}

/// The records of all candidates, in their order, before deduplication. What is large of them stays in the spool.
pub fn records(spool: &Arc<Spool>, found: &Found<'_>) -> Records {
    let Found { indexed, candidates, assembled, verdicts, structures, installed, gate, licenses } = *found;
    let parts = candidates.iter().zip(&assembled.bundles).zip(&assembled.origins);
    let mut records = Records::new(spool);
    let validated = verdicts.iter().zip(structures).zip(installed);
    for (((candidate, bundle), origin), ((verdict, structure), installed)) in parts.zip(validated) {
        let small = record(&Facts { indexed, candidate, gate, licenses }, bundle, origin, verdict.as_ref());
        let file = bundle.as_ref().ok();
        let rest = Rest {
            sources: file.iter().flat_map(|file| file.source_names()).map(str::to_owned).collect(),
            details: file.map(|file| file.details),
            structure: *structure,
        };
        records.push(BlockRecord { installed: installed.clone(), ..small }, rest);
    }
    records
}

/// What is known of a candidate before it becomes a bundle.
struct Facts<'a> {
    indexed: &'a Indexed,
    candidate: &'a Candidate,
    gate: Level,
    licenses: &'a Policy,
}

fn record(facts: &Facts<'_>, bundle: &Attempt<BundleFile>, origin: &Origin, verdict: Option<&Verdict>) -> BlockRecord {
    let Facts { indexed, candidate, gate, licenses } = *facts;
    let unvalidated = Verdict::default();
    let verdict_or_none = verdict.unwrap_or(&unvalidated);
    let level = verdict_or_none.level();
    let failure = match bundle {
        Ok(_) => verdict_or_none.failure.clone(),
        Err(reason) => Some(not_assembled(reason, origin)),
    };
    let file = bundle.as_ref().ok();
    let license_policy = file.and_then(|file| licenses.holds_back(file.license.as_deref()));
    let is_promoted = verdict_or_none.reaches(gate) && license_policy.is_none();
    BlockRecord {
        block: candidate.block.clone(),
        name: candidate.name.clone(),
        category: candidate.category,
        discovered_by: candidate.reason.clone(),
        source: origin.source.clone(),
        bundle: file.map(|_| bundle_path(candidate, is_promoted)),
        sha256: file.map(|file| file.sha256.clone()),
        lines: file.map(|file| file.lines),
        requirements: file.map(|file| file.requirements.clone()).unwrap_or_default(),
        assumed_requirements: file.map(|file| file.assumed_requirements.clone()).unwrap_or_default(),
        installed: Vec::new(),
        operator_imports: file.map(|file| file.operator_packages.clone()).unwrap_or_default(),
        unresolved: file.map(|file| file.bundle.unresolved.clone()).unwrap_or_default(),
        unknown_keys: Vec::new(),
        replaced: Vec::new(),
        edits: Vec::new(),
        closure: Vec::new(),
        constructor: signature::parameters(indexed, candidate.target.variable, "__init__"),
        forward: signature::parameters(indexed, candidate.target.variable, "forward"),
        level,
        levels: levels(verdict_or_none),
        failure,
        evidence: verdict_or_none.evidence.clone(),
        structure: None,
        tainted: verdict_or_none.tainted,
        protections: verdict_or_none.protections.clone(),
        tier: verdict_or_none.tier,
        dedup: None,
        swhid: origin.swhid.clone(),
        license: file.and_then(|file| file.license.clone()),
        license_policy,
        sources: file.map(|file| file.sources.clone()).unwrap_or_default(),
        imports: file.map(|file| file.bundle.packages.iter().cloned().collect()).unwrap_or_default(),
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
    let folder = if is_promoted { BundleFolder::Blocks } else { BundleFolder::Failed };
    format!("{}/{}.py", folder.name(), candidate.stem)
}

/// Enters the decisions of deduplication, by block. The bundle of a duplicate lies beside those that are kept.
pub fn decide(records: &mut [BlockRecord], decisions: &BTreeMap<String, DedupDecision>) {
    for record in records {
        let Some(decision) = decisions.get(&record.block) else { continue };
        let folder = match decision.decision {
            DedupOutcome::Kept => BundleFolder::Blocks,
            DedupOutcome::Removed => BundleFolder::Duplicates,
        };
        record.bundle = record.bundle.as_deref().map(|bundle| folder.path_of(bundle));
        record.dedup = Some(decision.clone());
    }
}
