//! What a library shows, counted from the records of its manifest alone: equal manifests give equal findings.

use std::collections::{BTreeMap, BTreeSet};

use netquarry_core::license::policy::Decision;
use netquarry_core::record::{BlockRecord, DedupOutcome};
use netquarry_core::verdict::{self, Evidence, Failure, FailureClass, Level, Outcome};
use serde::{Deserialize, Serialize};

use crate::interval::Proportion;

/// Everything that the summary, the report and `--format json` say about the blocks of a library.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// The level that promotes a block.
    pub gate: Level,
    pub total: Tally,
    pub categories: Vec<Group>,
    pub sources: Vec<Group>,
    pub levels: Vec<LevelTally>,
    /// Candidates that reached the gate, duplicates included, of all candidates.
    pub pass_rate: Proportion,
    /// By number, the most frequent first.
    pub failures: Vec<FailureTally>,
    /// Blocks that reached the gate and failed at a level above it.
    #[serde(default)]
    pub failed_above_gate: usize,
    /// Candidates at which nothing failed and which yet did not reach the gate.
    pub undecided: usize,
    /// What the user's policy about licences holds back; `None` where it holds back nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_back: Option<HeldBackTally>,
    /// Candidates that could not be constructed or run because no arguments were found that fit.
    pub without_arguments: usize,
    /// Candidates whose code touches what could make it lie to the validator, whatever their verdict.
    #[serde(default)]
    pub tainted: usize,
    /// They by what they touch, the most frequent first; one can be among several.
    #[serde(default)]
    pub taint_reasons: Vec<Counted>,
    /// What comparing with upstream came to; `None` where nothing was compared.
    #[serde(default)]
    pub parity: Option<ParityTally>,
    /// What challenges came to; `None` where nothing was challenged.
    #[serde(default)]
    pub challenges: Option<ChallengeTally>,
    /// Duplicates by the reason for which they were removed.
    pub duplicates: Vec<Counted>,
    /// Bundles by the package that they import for its compiled operators, the most frequent first.
    #[serde(default)]
    pub operator_imports: Vec<Counted>,
    /// Bundles by requirement other than torch, the most frequent first.
    pub requirements: Vec<Counted>,
    pub bundle_lines: Vec<Bin>,
    /// Lines of the bundle in the middle.
    pub median_lines: Option<u32>,
}

/// What validation found out about a class, of a library or of anybody's file.
#[derive(Clone, Copy, Debug)]
pub struct Judged<'a> {
    /// The identity of the block, or the place of the class.
    pub identity: &'a str,
    pub class_name: &'a str,
    pub level: u8,
    pub levels: &'a BTreeMap<String, Outcome>,
    pub failure: Option<&'a Failure>,
    pub evidence: &'a Evidence,
}

impl<'a> From<&'a BlockRecord> for Judged<'a> {
    fn from(record: &'a BlockRecord) -> Self {
        Self {
            identity: &record.block,
            class_name: &record.name,
            level: record.level,
            levels: &record.levels,
            failure: record.failure.as_ref(),
            evidence: &record.evidence,
        }
    }
}

impl Judged<'_> {
    pub fn outcome(&self, level: Level) -> Outcome {
        self.levels.get(level.name()).copied().unwrap_or(Outcome::Unknown)
    }

    /// Whether this level and all below it are passed, or have nothing to check.
    pub fn reaches(&self, level: Level) -> bool {
        verdict::reaches(level, |each| self.outcome(each))
    }
}

/// How far a set of candidates came.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    pub candidates: usize,
    /// A self-contained file was made.
    pub bundles: usize,
    /// Executed, and every name in the bundle is resolved.
    pub complete: usize,
    /// Passed, by level: index 0 is `parse`.
    pub passed: [usize; 7],
    /// Reached the gate, and are not held back.
    pub promoted: usize,
    /// Reached the gate, and the user's policy about licences holds them back.
    #[serde(default)]
    pub held_back: usize,
    /// Reached the gate, and another block stands for them.
    pub duplicates: usize,
    /// In the library.
    pub kept: usize,
}

/// The candidates that have something in common.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    pub name: String,
    #[serde(flatten)]
    pub tally: Tally,
}

/// The outcomes of one level over all candidates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LevelTally {
    pub level: Level,
    pub passed: usize,
    pub failed: usize,
    pub unknown: usize,
    pub not_applicable: usize,
}

/// What comparing bundles with their upstream classes came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParityTally {
    /// The same, and different.
    pub same: usize,
    pub different: usize,
    /// Without a result, by the reason.
    pub unknown: Vec<Counted>,
}

/// What came of asking blocks what they cannot have prepared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChallengeTally {
    /// Ran forward, and so were challenged.
    pub challenged: usize,
    /// Gave an answer.
    pub answered: usize,
    /// Gave the same answer in two processes.
    pub deterministic: usize,
    /// Gave it also as an exported graph, in a process without their code.
    pub replayed: usize,
    /// Not replayed, by the step that failed: `export`.
    pub not_replayed: Vec<Counted>,
}

/// Blocks that reached the gate and that the user's policy about licences keeps out of the library.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldBackTally {
    pub denied: usize,
    /// The licences for which, the most frequent first; a block can be among several.
    pub denied_licenses: Vec<Counted>,
    /// About which the user has yet to decide.
    pub asked: usize,
    pub asked_licenses: Vec<Counted>,
}

/// How often something went wrong in one way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureTally {
    pub class: FailureClass,
    pub count: usize,
    /// The first block that failed so, by identity, and what was said.
    pub block: String,
    pub message: String,
}

/// Something with how often it occurs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    pub name: String,
    pub count: usize,
}

/// Bundles of `from` to `to` lines, both inclusive; the last bin has no end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bin {
    pub from: u32,
    pub to: Option<u32>,
    pub count: usize,
}

/// The first line count of every bin after the first.
const BIN_STARTS: [u32; 9] = [26, 51, 101, 151, 201, 301, 501, 751, 1001];

impl Findings {
    /// Counts.
    pub fn of(records: &[BlockRecord], gate: Level) -> Self {
        let total = tally(records, gate);
        let mut lines: Vec<u32> = records.iter().filter_map(|record| record.lines).collect();
        lines.sort_unstable();
        Self {
            gate,
            pass_rate: Proportion::of(total.promoted + total.held_back, total.candidates),
            total,
            categories: groups(records, gate, |record| record.category.name().to_owned()),
            sources: groups(records, gate, |record| record.source.name.clone()),
            levels: level_tallies(records.iter().map(Judged::from)),
            failures: failures(records.iter().map(Judged::from)),
            failed_above_gate: records
                .iter()
                .filter(|record| reaches(record, gate) && record.failure.is_some())
                .count(),
            undecided: records.iter().filter(|record| !reaches(record, gate) && record.failure.is_none()).count(),
            held_back: held_back(records, gate),
            without_arguments: records.iter().filter(|record| record.evidence.lacks_arguments()).count(),
            tainted: records.iter().filter(|record| record.tainted).count(),
            taint_reasons: counted(records.iter().flat_map(taint_reasons)),
            parity: parity(records),
            challenges: challenges(records.iter().map(Judged::from)),
            duplicates: counted(records.iter().filter_map(removal_reason)),
            operator_imports: counted(
                records.iter().flat_map(|record| record.operator_imports.iter().map(String::as_str)),
            ),
            requirements: counted(
                records
                    .iter()
                    .flat_map(|record| record.requirements.iter().map(String::as_str))
                    .filter(|name| !is_torch(name)),
            ),
            bundle_lines: bins(&lines),
            median_lines: lines.get(lines.len() / 2).copied(),
        }
    }
}

/// Whether the block has a bundle that reached the gate, and whose licence the user takes.
pub fn is_promoted(record: &BlockRecord, gate: Level) -> bool {
    reaches(record, gate) && record.license_policy.is_none()
}

/// Whether the block would be promoted, but for its licence.
pub fn is_held_back(record: &BlockRecord, gate: Level) -> bool {
    reaches(record, gate) && record.license_policy.is_some()
}

fn reaches(record: &BlockRecord, gate: Level) -> bool {
    record.sha256.is_some() && Judged::from(record).reaches(gate)
}

/// What the policy about licences keeps out; `None` where it keeps out nothing.
fn held_back(records: &[BlockRecord], gate: Level) -> Option<HeldBackTally> {
    let held = || records.iter().filter(move |record| is_held_back(record, gate));
    let by = |decision: Decision| {
        let held = held().filter_map(|record| record.license_policy.as_ref());
        held.filter(move |held| held.decision == decision)
    };
    let licenses = |decision| counted(by(decision).flat_map(|held| held.licenses.iter().map(String::as_str)));
    (held().count() > 0).then(|| HeldBackTally {
        denied: by(Decision::Denied).count(),
        denied_licenses: licenses(Decision::Denied),
        asked: by(Decision::Asked).count(),
        asked_licenses: licenses(Decision::Asked),
    })
}

/// Whether deduplication removed the block.
pub fn is_removed(record: &BlockRecord) -> bool {
    record.dedup.as_ref().is_some_and(|decision| decision.decision == DedupOutcome::Removed)
}

/// `5 forward`; `0` where nothing was passed.
pub fn level_name(level: u8) -> String {
    match Level::ALL.into_iter().find(|each| *each as u8 == level) {
        Some(passed) => format!("{level} {}", passed.name()),
        None => level.to_string(),
    }
}

/// Why a comparison with upstream has no result: `upstream_not_importable`.
pub fn parity_unknown(record: &BlockRecord) -> Option<&str> {
    record.evidence.parity_unknown()?.split(':').next()
}

fn parity(records: &[BlockRecord]) -> Option<ParityTally> {
    let count = |outcome: Outcome| {
        records.iter().filter(|record| record.levels.get(Level::Parity.name()) == Some(&outcome)).count()
    };
    let unknown = counted(records.iter().filter_map(parity_unknown));
    let (same, different) = (count(Outcome::Passed), count(Outcome::Failed));
    (same + different > 0 || !unknown.is_empty()).then_some(ParityTally { same, different, unknown })
}

/// What challenges came to; `None` where nothing was challenged.
pub fn challenges<'a>(judged: impl Iterator<Item = Judged<'a>> + Clone) -> Option<ChallengeTally> {
    let count =
        |is_counted: &dyn Fn(&Evidence) -> bool| judged.clone().filter(|judged| is_counted(judged.evidence)).count();
    let answered = count(&|evidence| evidence.challenge.is_some());
    let challenged = answered + count(&|evidence| evidence.not_challenged().is_some());
    (challenged > 0).then(|| ChallengeTally {
        challenged,
        answered,
        deterministic: count(&|evidence| evidence.challenge.is_some_and(|challenge| challenge.deterministic)),
        replayed: count(&|evidence| evidence.replayed.is_some()),
        not_replayed: counted(judged.clone().filter_map(|judged| step_not_replayed(judged.evidence))),
    })
}

/// The step at which it failed.
fn step_not_replayed(evidence: &Evidence) -> Option<&str> {
    evidence.not_replayed()?.split(':').next()
}

fn tally<'a>(records: impl IntoIterator<Item = &'a BlockRecord>, gate: Level) -> Tally {
    let mut tally = Tally::default();
    for record in records {
        tally.candidates += 1;
        let passed = |level: Level| usize::from(record.levels.get(level.name()) == Some(&Outcome::Passed));
        tally.bundles += usize::from(record.sha256.is_some());
        tally.complete += if record.unresolved.is_empty() { passed(Level::Execute) } else { 0 };
        for (index, level) in Level::ALL.into_iter().enumerate() {
            tally.passed[index] += passed(level);
        }
        let (promoted, removed) = (is_promoted(record, gate), is_removed(record));
        tally.promoted += usize::from(promoted);
        tally.held_back += usize::from(is_held_back(record, gate));
        tally.duplicates += usize::from(promoted && removed);
        tally.kept += usize::from(promoted && !removed);
    }
    tally
}

fn groups(records: &[BlockRecord], gate: Level, key: impl Fn(&BlockRecord) -> String) -> Vec<Group> {
    let mut groups: BTreeMap<String, Vec<&BlockRecord>> = BTreeMap::new();
    for record in records {
        groups.entry(key(record)).or_default().push(record);
    }
    groups.into_iter().map(|(name, records)| Group { name, tally: tally(records, gate) }).collect()
}

/// The outcomes of every level, the lowest first.
pub fn level_tallies<'a>(judged: impl Iterator<Item = Judged<'a>>) -> Vec<LevelTally> {
    let mut tallies = Level::ALL.map(|level| LevelTally { level, passed: 0, failed: 0, unknown: 0, not_applicable: 0 });
    for judged in judged {
        for tally in &mut tallies {
            match judged.outcome(tally.level) {
                Outcome::Passed => tally.passed += 1,
                Outcome::Failed => tally.failed += 1,
                Outcome::Unknown => tally.unknown += 1,
                Outcome::NotApplicable => tally.not_applicable += 1,
            }
        }
    }
    tallies.to_vec()
}

/// Failures by class, the most frequent first.
pub fn failures<'a>(judged: impl Iterator<Item = Judged<'a>>) -> Vec<FailureTally> {
    let mut tallies: BTreeMap<FailureClass, FailureTally> = BTreeMap::new();
    for judged in judged {
        let Some(failure) = judged.failure else { continue };
        let first = || FailureTally {
            class: failure.class,
            count: 0,
            block: judged.identity.to_owned(),
            message: failure.message.clone(),
        };
        tallies.entry(failure.class).or_insert_with(first).count += 1;
    }
    let mut tallies: Vec<FailureTally> = tallies.into_values().collect();
    tallies.sort_by(|left, right| right.count.cmp(&left.count).then_with(|| left.class.cmp(&right.class)));
    tallies
}

fn removal_reason(record: &BlockRecord) -> Option<&str> {
    record.dedup.as_ref().filter(|_| is_removed(record)).and_then(|decision| decision.reason.as_deref())
}

fn taint_reasons(record: &BlockRecord) -> BTreeSet<&'static str> {
    record.evidence.tainted.iter().map(|taint| taint.reason.name()).collect()
}

fn is_torch(requirement: &str) -> bool {
    let name = requirement.split(|character: char| !(character.is_alphanumeric() || "-_.".contains(character))).next();
    name == Some("torch")
}

fn counted<'a>(names: impl Iterator<Item = &'a str>) -> Vec<Counted> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for name in names {
        *counts.entry(name).or_default() += 1;
    }
    let mut counts: Vec<Counted> =
        counts.into_iter().map(|(name, count)| Counted { name: name.to_owned(), count }).collect();
    counts.sort_by(|left, right| right.count.cmp(&left.count).then_with(|| left.name.cmp(&right.name)));
    counts
}

fn bins(lines: &[u32]) -> Vec<Bin> {
    let starts: Vec<u32> = [1].into_iter().chain(BIN_STARTS).collect();
    let bin = |index: usize| {
        let (from, to) = (starts[index], starts.get(index + 1).map(|next| next - 1));
        let holds = |lines: &&u32| **lines >= from && to.is_none_or(|to| **lines <= to);
        Bin { from, to, count: lines.iter().filter(holds).count() }
    };
    (0..starts.len()).map(bin).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use netquarry_core::license::policy::HeldBack;
    use netquarry_core::record::{Category, DedupDecision, RecordSource};
    use netquarry_core::source::SourceKind;
    use netquarry_core::verdict::{Sighting, Taint, TaintReason, Verdict};

    use super::*;

    /// A record of a block that passed every level up to `level`.
    pub(crate) fn record(block: &str, category: Category, level: u8, lines: u32) -> BlockRecord {
        let (source, path) = block.split_once(':').expect("an identity has a source");
        let (module, name) = path.rsplit_once('.').expect("a path has a module");
        let mut verdict = Verdict::default();
        for each in Level::ALL {
            verdict.set(each, if each as u8 <= level { Outcome::Passed } else { Outcome::Unknown });
        }
        BlockRecord {
            block: block.to_owned(),
            name: name.to_owned(),
            category,
            discovered_by: "discover-nn-module-deep 0.1.0: inherits torch.nn.Module".to_owned(),
            source: RecordSource {
                name: source.to_owned(),
                kind: SourceKind::Pypi,
                priority: 1,
                version: Some("1.0.31".to_owned()),
                commit: None,
                path: format!("{}.py", module.replace('.', "/")),
                lines: [160, 181],
                sha1: "0".repeat(40),
            },
            bundle: Some(format!("blocks/{name}.py")),
            sha256: Some("0".repeat(64)),
            lines: Some(lines),
            requirements: vec!["torch".to_owned()],
            assumed_requirements: Vec::new(),
            installed: Vec::new(),
            operator_imports: Vec::new(),
            unresolved: Vec::new(),
            unknown_keys: Vec::new(),
            replaced: Vec::new(),
            edits: Vec::new(),
            closure: Vec::new(),
            constructor: Vec::new(),
            forward: Vec::new(),
            level,
            levels: verdict.outcomes,
            failure: None,
            structure: None,
            evidence: Evidence::default(),
            tainted: false,
            protections: Vec::new(),
            tier: None,
            dedup: None,
            swhid: format!("swh:1:cnt:{}", "0".repeat(40)),
            license: Some("Apache-2.0".to_owned()),
            license_policy: None,
            sources: Vec::new(),
            imports: Vec::new(),
        }
    }

    /// A small library with something of everything.
    pub(crate) fn library() -> Vec<BlockRecord> {
        let mut failed = record("timm:timm.layers.x.Failed", Category::Attention, 2, 300);
        failed.levels.insert("execute".to_owned(), Outcome::Failed);
        failed.failure = Some(Failure {
            class: FailureClass::UnresolvedName,
            message: "NameError: name 'helper' is not defined".to_owned(),
            upstream: Some("timm/layers/x.py:12".to_owned()),
            hint: None,
        });
        failed.bundle = Some("failed/Failed.py".to_owned());
        let mut copy = record("vision:vision.ops.Copy", Category::Utility, 5, 57);
        copy.dedup = Some(DedupDecision {
            decision: DedupOutcome::Removed,
            reason: Some("exact".to_owned()),
            survivor: Some("timm:timm.layers.drop.DropPath".to_owned()),
            like: None,
            similarity: Some(1.0),
            plugin: Some("dedup-exact 0.1.0".to_owned()),
        });
        copy.bundle = Some("duplicates/Copy.py".to_owned());
        copy.tainted = true;
        copy.evidence.tainted =
            [("torch.Tensor.backward", TaintReason::Torch), ("gc.get_objects", TaintReason::Collector)]
                .map(|(what, reason)| Taint {
                    line: Some(12),
                    upstream: Some("vision/ops.py:3".to_owned()),
                    reason,
                    what: what.to_owned(),
                    seen: Sighting::Text,
                })
                .to_vec();
        let mut unbundled = record("vision:vision.ops.Lost", Category::Loss, 0, 1);
        (unbundled.bundle, unbundled.sha256, unbundled.lines) = (None, None, None);
        let mut pillow = record("vision:vision.models.Net", Category::Architecture, 5, 1200);
        pillow.requirements.push("Pillow".to_owned());
        pillow.operator_imports.push("vision".to_owned());
        vec![failed, record("timm:timm.layers.drop.DropPath", Category::Utility, 5, 57), pillow, copy, unbundled]
    }

    #[test]
    fn every_candidate_is_counted_once_wherever_it_ended() {
        let findings = Findings::of(&library(), Level::Execute);
        let total = &findings.total;
        assert_eq!((total.candidates, total.bundles, total.promoted, total.duplicates, total.kept), (5, 4, 3, 1, 2));
        assert_eq!(total.passed, [4, 4, 3, 3, 3, 0, 0]);
        assert_eq!((findings.pass_rate.successes, findings.pass_rate.trials), (3, 5));
        assert_eq!(findings.undecided, 1);
        assert_eq!(findings.tainted, 1);
        let reasons: Vec<&str> = findings.taint_reasons.iter().map(|reason| reason.name.as_str()).collect();
        assert_eq!(reasons, ["collector", "torch"]);
        assert_eq!(findings.requirements, [Counted { name: "Pillow".to_owned(), count: 1 }]);
        assert_eq!(findings.operator_imports, [Counted { name: "vision".to_owned(), count: 1 }]);
        assert_eq!(findings.duplicates, [Counted { name: "exact".to_owned(), count: 1 }]);
        assert_eq!(findings.failures[0].class, FailureClass::UnresolvedName);
        assert_eq!(findings.bundle_lines.iter().map(|bin| bin.count).sum::<usize>(), 4);
        assert_eq!(findings.categories.iter().map(|group| group.tally.candidates).sum::<usize>(), 5);
        assert_eq!(findings.held_back, None);
    }

    #[test]
    fn what_a_licence_holds_back_is_no_failure_and_not_in_the_library() {
        let mut library = library();
        let held = |decision, license: &str| Some(HeldBack { decision, licenses: vec![license.to_owned()] });
        library[1].license_policy = held(Decision::Asked, "GPL-3.0-only");
        library[2].license_policy = held(Decision::Denied, "AGPL-3.0-only");
        // Below the gate anyway.
        library[0].license_policy = held(Decision::Denied, "AGPL-3.0-only");
        let findings = Findings::of(&library, Level::Execute);
        let total = &findings.total;
        assert_eq!((total.promoted, total.held_back, total.duplicates, total.kept), (1, 2, 1, 0));
        assert_eq!(findings.pass_rate.successes, 3);
        assert_eq!(findings.undecided, 1);
        let held_back = findings.held_back.expect("something is");
        assert_eq!((held_back.denied, held_back.asked), (1, 1));
        let counted = |name: &str| [Counted { name: name.to_owned(), count: 1 }];
        assert_eq!(held_back.denied_licenses, counted("AGPL-3.0-only"));
        assert_eq!(held_back.asked_licenses, counted("GPL-3.0-only"));
    }
}
