//! A verdict as text for people: outcomes by level, arguments, shapes, and what is known beyond that it runs.

use std::fmt::Write as _;

use netquarry_core::verdict::{
    ChallengeEvidence, Evidence, GradientEvidence, Level, Outcome, ReplayEvidence, TensorShape, TrainingEvidence,
};

use crate::findings::Judged;

/// The verdict, a line for each thing that is known, each with two blanks before it.
pub(crate) fn verdict_text(judged: &Judged<'_>) -> String {
    let mut text = String::new();
    for level in Level::ALL {
        let outcome = match judged.outcome(level) {
            Outcome::Passed => "passed",
            Outcome::Failed => "failed",
            Outcome::Unknown if is_undecided(judged, level) => "unknown: see below",
            Outcome::Unknown => "not tried",
            Outcome::NotApplicable => "not applicable",
        };
        let _ = writeln!(text, "  {} {:<9}  {outcome}", level as u8, level.name());
    }
    if let Some(failure) = judged.failure {
        let place = failure.upstream.as_ref().map(|place| format!(" at {place}")).unwrap_or_default();
        let _ = writeln!(text, "  {}{place}: {}", failure.class.name(), failure.message);
        if let Some(hint) = &failure.hint {
            let _ = writeln!(text, "  hint: {hint}");
        }
    }
    let evidence = judged.evidence;
    if !evidence.constructor_arguments.is_empty() {
        let arguments: Vec<String> =
            evidence.constructor_arguments.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let _ = writeln!(text, "  constructed as {}({})", judged.class_name, arguments.join(", "));
    }
    let shapes = |tensors: &[TensorShape]| {
        tensors
            .iter()
            .map(|tensor| format!("{} {:?} {}", tensor.name, tensor.shape, tensor.dtype))
            .collect::<Vec<_>>()
            .join(", ")
    };
    if !evidence.forward_outputs.is_empty() {
        let _ =
            writeln!(text, "  forward: {} -> {}", shapes(&evidence.forward_inputs), shapes(&evidence.forward_outputs));
    }
    if let Some(parameters) = evidence.parameters {
        let _ = writeln!(text, "  {parameters} parameters");
    }
    text.push_str(&behaviour(evidence));
    for note in &evidence.notes {
        let _ = writeln!(text, "  {note}");
    }
    for taint in &evidence.tainted {
        let _ = writeln!(text, "  tainted by {}", taint.told());
    }
    text
}

/// What is known beyond that it runs.
fn behaviour(evidence: &Evidence) -> String {
    let mut text = String::new();
    if let Some(GradientEvidence { trained, reached }) = evidence.gradient {
        let _ = writeln!(text, "  gradients reach {reached} of {trained} parameter tensors");
    }
    if let Some(flops) = evidence.flops {
        let _ = writeln!(text, "  {flops} operations in products of matrices, convolutions and attention");
    }
    if let Some(ChallengeEvidence { deterministic, training }) = evidence.challenge {
        let answers = if deterministic { "the same" } else { "something else each time" };
        let output = match training {
            TrainingEvidence { raises: true, .. } => "an exception",
            TrainingEvidence { output_differs: true, .. } => "another output",
            TrainingEvidence { output_differs: false, .. } => "the same output",
        };
        let state = if training.state_changes { "another" } else { "the same" };
        let _ = writeln!(text, "  two processes answer {answers}; in training mode {output}, {state} state after it");
    }
    if let Some(ReplayEvidence { operators, .. }) = evidence.replayed {
        let _ =
            writeln!(text, "  replayed: its exported graph of {operators} operators answers the same without its code");
    }
    text
}

/// Whether a level without an outcome was tried; `--level` or an earlier level may have kept it from that.
fn is_undecided(judged: &Judged<'_>, level: Level) -> bool {
    match level {
        Level::Parity => judged.evidence.parity_unknown().is_some(),
        Level::Backward => judged.evidence.notes.iter().any(|note| note.contains(level.name())),
        _ => {
            let mut earlier = Level::ALL.into_iter().take_while(|earlier| *earlier < level);
            judged.failure.is_none() && earlier.all(|earlier| judged.outcome(earlier) == Outcome::Passed)
        }
    }
}
