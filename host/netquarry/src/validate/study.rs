//! What an instance is made of, and what it gives for other inputs than those that it is known to take.
//!
//! All of it is the bundle's word, and says nothing about levels.

use netquarry_core::structure::{LayerCall, Structure};
use netquarry_core::verdict::{NOT_STUDIED, Verdict};

use super::observation::{Observation, unfinished};

/// Of what is larger than anything that the worker tells nothing is kept: whoever told it was not the worker.
const MOST_ENTRIES: usize = 10_000;
const LONGEST: usize = 500;

/// Enters in the verdict what a child told or, in words, why it did not tell everything.
///
/// `ending` tells in words how a child ended that did not come to its end.
pub(super) fn enter(verdict: &mut Verdict, told: Observation, ending: &dyn Fn() -> String) {
    // What it is made of was seen before anything else was tried.
    verdict.structure = Some(told.structure.clone()).filter(is_plausible);
    let has_ended = told.finished || told.stopped.is_some();
    let studied = if has_ended { told.whole() } else { Err(unfinished(&ending())) };
    match studied {
        Ok(studied) => verdict.evidence.trials = Some(studied.trials).filter(|trials| !trials.is_empty()),
        Err(reason) => {
            verdict.evidence.notes.push(format!("{NOT_STUDIED}: {reason}"));
            verdict.evidence.notes.sort();
        }
    }
}

/// The calls, unless they are more or longer than the worker tells.
pub(super) fn bounded(calls: Vec<LayerCall>) -> Vec<LayerCall> {
    let is_bounded = |call: &LayerCall| {
        let texts = [Some(&call.operation), call.path.as_ref()];
        texts.into_iter().flatten().all(|text| text.len() <= LONGEST) && call.inputs.len() <= LONGEST
    };
    if calls.len() <= MOST_ENTRIES && calls.iter().all(is_bounded) { calls } else { Vec::new() }
}

fn is_plausible(structure: &Structure) -> bool {
    let names = structure.state.iter().flat_map(|entry| [&entry.name, &entry.dtype]);
    let places = structure.submodules.iter().flat_map(|module| [&module.path, &module.class_name]);
    let options = structure.submodules.iter().flat_map(|module| &module.options).flat_map(|(name, text)| [name, text]);
    let is_bounded = names.chain(places).chain(options).all(|text| text.len() <= LONGEST);
    let is_told = !structure.submodules.is_empty();
    is_told && is_bounded && structure.state.len().max(structure.submodules.len()) <= MOST_ENTRIES
}
