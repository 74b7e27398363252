//! What a bundle touches by which it could lie: in its text, and as its process tells.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};

use netquarry_core::syntax;
use netquarry_core::taint::{Sign, signs};
use netquarry_core::verdict::{Level, Outcome, Sighting, Taint, TaintReason, Verdict};

use super::Job;

/// So many are heard of in one message, and stand in one verdict.
pub(super) const MOST: usize = 64;

/// What the bundle's own process noticed.
pub(super) fn seen(job: &Job, reason: TaintReason, what: String, line: Option<u32>) -> Taint {
    Taint { line, upstream: line.and_then(|line| job.upstream_place(line)), reason, what, seen: Sighting::Running }
}

/// The verdict with what stands in the text as well, and with the mark where there is anything.
pub(super) fn with_signs_of_text(job: &Job, mut verdict: Verdict) -> Verdict {
    let mut tainted = Vec::new();
    for Sign { line, reason, what } in signs_of_text(job, &verdict) {
        tainted.push(Taint { seen: Sighting::Text, ..seen(job, reason, what, line) });
    }
    for running in std::mem::take(&mut verdict.evidence.tainted) {
        // What was changed is seen when it is done, and not where.
        let is_same = |taint: &&mut Taint| {
            (taint.reason, &taint.what) == (running.reason, &running.what)
                && (running.line.is_none() || taint.line == running.line)
        };
        match tainted.iter_mut().find(is_same) {
            Some(taint) if taint.seen == Sighting::Text => taint.seen = Sighting::Both,
            Some(_) => {}
            None => tainted.push(running),
        }
    }
    tainted.sort();
    tainted.truncate(MOST);
    verdict.tainted = !tainted.is_empty();
    verdict.evidence.tainted = tainted;
    verdict
}

/// A text that CPython reads and this program does not could hold anything.
fn signs_of_text(job: &Job, verdict: &Verdict) -> Vec<Sign> {
    let bytes = fs::read(&job.file).unwrap_or_default();
    let read = || {
        let facts = syntax::facts(&bytes);
        let text = syntax::decode(&bytes).ok().filter(|_| facts.diagnostics.is_empty())?;
        Some(signs(&text, &facts))
    };
    let signs = catch_unwind(AssertUnwindSafe(read)).ok().flatten();
    signs.unwrap_or_else(|| match verdict.outcome(Level::Parse) {
        Outcome::Passed => vec![Sign { line: None, reason: TaintReason::Unread, what: "the text".to_owned() }],
        Outcome::Failed | Outcome::Unknown | Outcome::NotApplicable => Vec::new(),
    })
}
