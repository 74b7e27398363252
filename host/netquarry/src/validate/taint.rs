//! What a bundle touches by which it could lie: in its text, and as its process tells.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};

use netquarry_core::syntax;
use netquarry_core::taint::{Sign, signs};
use netquarry_core::verdict::{Level, Outcome, Sighting, Taint, TaintReason, Verdict};

use super::Job;

/// So many are heard of in one message, and stand in one verdict.
pub(super) const MOST: usize = 64;
/// So many characters of what was touched.
pub(super) const LONGEST: usize = 200;

/// What the bundle's own process noticed.
pub(super) fn seen(job: &Job, reason: TaintReason, what: String, line: Option<u32>) -> Taint {
    Taint { line, upstream: line.and_then(|line| job.upstream_place(line)), reason, what, seen: Sighting::Running }
}

/// The verdict with what stands in the text as well, and with the mark where there is anything.
pub(super) fn with_signs_of_text(job: &Job, mut verdict: Verdict) -> Verdict {
    let signs = signs_of_text(job, &verdict).into_iter();
    let text = signs.map(|Sign { line, reason, what }| Taint { seen: Sighting::Text, ..seen(job, reason, what, line) });
    let tainted = joined(text.collect(), std::mem::take(&mut verdict.evidence.tainted));
    verdict.tainted = !tainted.is_empty();
    verdict.evidence.tainted = tainted;
    verdict
}

/// At most `MOST` of both, sorted. The bundle's own process tells of what is noticed while it runs, so that takes the place
/// of nothing that stands in the text.
fn joined(mut tainted: Vec<Taint>, running: Vec<Taint>) -> Vec<Taint> {
    tainted.sort();
    tainted.truncate(MOST);
    let mut room = MOST - tainted.len();
    for running in running {
        // What was changed is seen when it is done, and not where.
        let is_same = |taint: &&mut Taint| {
            (taint.reason, &taint.what) == (running.reason, &running.what)
                && (running.line.is_none() || taint.line == running.line)
        };
        match tainted.iter_mut().find(is_same) {
            Some(taint) if taint.seen == Sighting::Text => taint.seen = Sighting::Both,
            None if room > 0 => {
                tainted.push(running);
                room -= 1;
            }
            Some(_) | None => {}
        }
    }
    tainted.sort();
    tainted
}

/// A text that CPython reads and this program does not, or no longer, could hold anything.
fn signs_of_text(job: &Job, verdict: &Verdict) -> Vec<Sign> {
    let read = || {
        let bytes = fs::read(&job.file).ok()?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_while_it_runs_drives_out_nothing_that_stands_in_the_text() {
        let taint = |line, what: String, seen| Taint { line, upstream: None, reason: TaintReason::Frames, what, seen };
        let text = vec![taint(Some(7), "sys._getframe".to_owned(), Sighting::Text)];
        let flood = (0..2 * MOST).map(|number| taint(None, format!("{number}"), Sighting::Running)).collect();
        let joined = joined(text.clone(), flood);
        assert_eq!((joined.len(), joined.contains(&text[0])), (MOST, true));
    }
}
