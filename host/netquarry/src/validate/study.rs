//! What an instance is made of, and what it gives for other inputs than those that it is known to take.
//!
//! All of it is the bundle's word, and says nothing about levels.

use netquarry_core::structure::{LayerCall, Structure, Trials};
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
        Ok(studied) => {
            verdict.evidence.trials = Some(studied.trials).filter(|trials| !trials.is_empty() && are_plausible(trials));
        }
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
        texts.into_iter().flatten().all(|text| text.len() <= LONGEST)
            && call.inputs.len() <= LONGEST
            && call.shape.as_ref().is_none_or(|shape| shape.len() <= LONGEST)
    };
    if calls.len() <= MOST_ENTRIES && calls.iter().all(is_bounded) { calls } else { Vec::new() }
}

fn are_plausible(trials: &Trials) -> bool {
    let are_bounded = |shapes: &Option<Vec<Vec<u64>>>| {
        shapes.iter().flatten().all(|shape| shape.len() <= LONGEST)
            && shapes.as_ref().is_none_or(|it| it.len() <= LONGEST)
    };
    let sizes = trials.sizes.iter().all(|trial| {
        trial.axes.len() <= LONGEST
            && trial.axes.iter().all(|axis| axis.input.len() <= LONGEST)
            && are_bounded(&trial.outputs)
    });
    let dtypes = trials.dtypes.iter().all(|trial| {
        let names = trial.outputs.iter().flatten().chain([&trial.dtype]);
        trial.outputs.as_ref().is_none_or(|it| it.len() <= LONGEST)
            && names.into_iter().all(|name| name.len() <= LONGEST)
    });
    sizes && dtypes && trials.sizes.len().max(trials.dtypes.len()) <= LONGEST
}

fn is_plausible(structure: &Structure) -> bool {
    let names = structure.state.iter().flat_map(|entry| [&entry.name, &entry.dtype]);
    let places = structure.submodules.iter().flat_map(|module| [&module.path, &module.class_name]);
    let options = structure.submodules.iter().flat_map(|module| &module.options).flat_map(|(name, text)| [name, text]);
    let twins = structure.state.iter().filter_map(|entry| entry.same_as.as_ref());
    let shapes = structure.state.iter().filter_map(|entry| entry.shape.as_ref());
    let is_bounded = names.chain(places).chain(options).chain(twins).all(|text| text.len() <= LONGEST)
        && shapes.into_iter().all(|shape| shape.len() <= LONGEST);
    let is_told = !structure.submodules.is_empty();
    is_told && is_bounded && structure.state.len().max(structure.submodules.len()) <= MOST_ENTRIES
}
