//! What a bundle answers to numbers that it is told only while it runs.
//!
//! First a child exports the model, before anybody but the host knows what will be asked. Then two others answer, and where
//! they answer differently the block is not deterministic. What was exported, a graph of torch's own operators with the
//! bytes of the tensors, is then run in a process that has never seen the bundle: where that gives the bundle's answer, the
//! answer is that of the network that was handed over beforehand. Whether this is the block's own is the bundle's word.

use netquarry_core::structure::LayerCall;
use netquarry_core::verdict::{
    ChallengeEvidence, NOT_CHALLENGED, NOT_REPLAYED, ReplayEvidence, TrainingEvidence, Verdict,
};

use super::observation::Observation;
use super::protocol::Part;
use super::study;

/// The seeds of a challenge: of the model, and of what it is given.
pub(super) type Numbers = [u32; 2];

/// What a challenge came to.
#[derive(Debug, PartialEq)]
pub(super) struct Met {
    flops: Option<u64>,
    /// Whether a pass on another device worked.
    other_device: Option<bool>,
    /// Of the exported graph.
    calls: Vec<LayerCall>,
    /// Otherwise why nothing is known.
    answer: Result<ChallengeEvidence, String>,
    replay: Result<ReplayEvidence, String>,
}

/// Has a part met with these numbers: what was observed or, in words, why nothing came of it.
type Asking<'a, E> = dyn Fn(Part, &[u32]) -> Result<Result<Observation, String>, E> + 'a;

/// Challenges a block, given a way to have the parts met.
///
/// # Errors
/// Those of `ask`.
pub(super) fn meet<E>(numbers: Numbers, ask: &Asking<'_, E>) -> Result<Met, E> {
    let [of_model, of_inputs] = numbers;
    let exported = ask(Part::Export, &[of_model])?;
    let first = ask(Part::Answer, &numbers)?.and_then(Observation::whole);
    let second = match &first {
        Ok(_) => ask(Part::Answer, &numbers)?.and_then(Observation::whole),
        Err(_) => first.clone(),
    };
    let answer = first.and_then(|first| Ok((evidence(&first, &second?), first)));
    let flops = exported.as_ref().ok().and_then(|exported| exported.flops);
    let other_device = exported.as_ref().ok().and_then(|exported| exported.trials.other_device);
    let calls = exported.as_ref().map(|exported| exported.structure.calls.clone()).unwrap_or_default();
    let replay = match (&answer, exported.and_then(Observation::whole)) {
        (Err(reason), _) => Err(reason.clone()),
        (_, Err(reason)) => Err(reason),
        (Ok((evidence, _)), Ok(_)) if !evidence.deterministic => Err(NOT_DETERMINISTIC.to_owned()),
        (Ok((_, answer)), Ok(_)) => {
            let replayed = ask(Part::Graph, &[of_inputs])?.and_then(Observation::whole);
            replayed.and_then(|replayed| compared(answer, &replayed))
        }
    };
    Ok(Met { flops, other_device, calls, answer: answer.map(|(evidence, _)| evidence), replay })
}

const NOT_DETERMINISTIC: &str = "not_deterministic: two processes do not answer the same";

fn evidence(first: &Observation, second: &Observation) -> ChallengeEvidence {
    ChallengeEvidence {
        deterministic: first.equals(second) && first.flat == second.flat,
        training: TrainingEvidence {
            raises: first.training.iter().any(|leaf| leaf.raised),
            output_differs: first.output != first.training,
            state_changes: first.state != first.trained_state,
        },
    }
}

/// What was replayed, if it gave the same answer.
fn compared(answer: &Observation, replayed: &Observation) -> Result<ReplayEvidence, String> {
    if !answer.flat.iter().any(|leaf| leaf.digest.is_some()) {
        return Err("no_tensor: what comes out has no values to compare".to_owned());
    }
    if answer.flat != replayed.flat {
        return Err("other_output: what was exported gives another output than the block".to_owned());
    }
    Ok(ReplayEvidence { operators: replayed.operators.unwrap_or_default(), output_parts: answer.flat.len() as u64 })
}

/// Enters the result in the verdict.
pub(super) fn enter(verdict: &mut Verdict, met: Met) {
    let evidence = &mut verdict.evidence;
    evidence.flops = met.flops;
    if met.other_device.is_some() {
        evidence.trials.get_or_insert_default().other_device = met.other_device;
    }
    if let Some(structure) = &mut verdict.structure {
        structure.calls = study::bounded(met.calls);
    }
    match met.answer {
        Ok(answer) => evidence.challenge = Some(answer),
        // Nothing can have been replayed either.
        Err(reason) => {
            evidence.notes.push(format!("{NOT_CHALLENGED}: {reason}"));
            evidence.notes.sort();
            return;
        }
    }
    match met.replay {
        Ok(replayed) => evidence.replayed = Some(replayed),
        Err(reason) => evidence.notes.push(format!("{NOT_REPLAYED}: {reason}")),
    }
    evidence.notes.sort();
}
