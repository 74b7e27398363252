//! Arguments for blocks for which none were found: those that upstream's own functions give to the class.
//!
//! `inception_v3()` constructs each of Inception's blocks as its authors meant it. Such functions are called in a process
//! that has upstream's module, all of a module at once, and only where the search has failed.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use netquarry_core::verdict::{Level, Outcome, UPSTREAM_ARGUMENTS, Verdict};
use serde::{Deserialize, Serialize};

use super::protocol::Event;
use super::{Job, Upstream};

/// What a class was given: Python expressions by parameter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Suggestion {
    constructor: BTreeMap<String, String>,
    /// None where no forward pass was seen.
    forward: Option<BTreeMap<String, String>>,
    /// Who gave it: `inception_v3()`.
    source: String,
}

/// By class.
pub(super) type Harvest = BTreeMap<String, Suggestion>;

/// The harvest of each module of each upstream, once somebody asked for it.
#[derive(Debug, Default)]
pub(super) struct Harvests {
    by_module: Mutex<HashMap<(String, String), Entry>>,
}

type Entry = Arc<Mutex<Option<Arc<Harvest>>>>;

impl Harvests {
    /// The harvest of upstream's module; others wait while `gather` is at it.
    pub(super) fn of<E>(
        &self,
        upstream: &Upstream,
        gather: impl FnOnce() -> Result<Harvest, E>,
    ) -> Result<Arc<Harvest>, E> {
        let key = (upstream.identity.clone(), upstream.module.clone());
        let entry = Arc::clone(self.by_module.lock().expect("nothing panics here").entry(key).or_default());
        let mut harvest = entry.lock().expect("nothing panics here");
        match &*harvest {
            Some(known) => Ok(Arc::clone(known)),
            None => Ok(Arc::clone(harvest.insert(Arc::new(gather()?)))),
        }
    }
}

/// The upstream to ask, where the search has ended without arguments.
pub(super) fn wanting<'a>(job: &'a Job, verdict: &Verdict) -> Option<&'a Upstream> {
    let is_open = |level| verdict.outcome(level) == Outcome::Unknown;
    let is_undecided = verdict.outcome(Level::Execute) == Outcome::Passed
        && verdict.failure.is_none()
        && (is_open(Level::Construct) || is_open(Level::Forward));
    job.upstream.as_ref().filter(|_| is_undecided && job.arguments.is_none())
}

pub(super) fn of(events: &[Event]) -> Harvest {
    let found = events.iter().filter_map(|event| match event {
        Event::Harvested { class_name, suggestion } => Some((class_name.clone(), suggestion.clone())),
        _ => None,
    });
    found.collect()
}

/// The verdict that came of the suggestion, where it is further up than the one without.
pub(super) fn better(plain: Verdict, mut suggested: Verdict, suggestion: &Suggestion) -> Verdict {
    if suggested.failure.is_some() || suggested.level() <= plain.level() {
        return plain;
    }
    // It is the same code.
    suggested.evidence.tainted.extend(plain.evidence.tainted);
    let used = &suggested.evidence.constructor_arguments;
    if suggestion.constructor.iter().all(|(name, text)| used.get(name).is_none_or(|used| used == text)) {
        suggested.evidence.notes.push(format!("{UPSTREAM_ARGUMENTS}: {}", suggestion.source));
        suggested.evidence.notes.sort();
    }
    suggested
}
