//! Bundles with what they answer to a challenge: one file of `challenge_cases/` each.
//!
//! Beside the keys of every case: `challenge: differs` or `challenge: none` where two processes do not answer the same or
//! not at all, `training`, `gradient` and `flops` as the evidence has them, and `replayed`, the number of operators in the
//! graph. A case whose `note` does not say why not has to be replayed.

use netquarry_core::verdict::{Level, NOT_CHALLENGED, NOT_REPLAYED, Verdict};

use super::{Case, Options, jobs, options, read_cases, run};

#[test]
fn bundles_answer_challenges() {
    let cases = read_cases("challenge_cases");
    // An export takes more than the least.
    let limits = super::Limits { cpu_seconds: 30, memory_bytes: 2 << 30, ..options().limits };
    let (verdicts, _) = run(jobs(&cases), &Options { level: Level::Backward, limits, ..options() });
    let complaints = cases.iter().filter_map(|case| {
        let verdict = &verdicts[&case.name];
        let complaint = case.complaint(verdict).or_else(|| other_evidence(case, verdict));
        Some(format!("{}: {}", case.name, complaint?))
    });
    let complaints: Vec<String> = complaints.collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n\n"));
}

/// What of the evidence is not as the case says.
fn other_evidence(case: &Case, verdict: &Verdict) -> Option<String> {
    let evidence = &verdict.evidence;
    let word = |differs| if differs { "other" } else { "same" };
    let training = evidence.challenge.map(|challenge| {
        let training = challenge.training;
        let output = if training.raises { "no" } else { word(training.output_differs) };
        format!("{output} output, {} state", word(training.state_changes))
    });
    let challenge = match evidence.challenge.map(|challenge| challenge.deterministic) {
        Some(true) => "deterministic",
        Some(false) => "differs",
        None => "none",
    };
    let found = [
        ("challenge", Some(challenge.to_owned())),
        ("training", training),
        ("gradient", evidence.gradient.map(|gradient| format!("{} of {}", gradient.reached, gradient.trained))),
        ("flops", evidence.flops.map(|flops| flops.to_string())),
        ("replayed", evidence.replayed.map(|replayed| replayed.operators.to_string())),
    ];
    let expected =
        |key: &str| case.keys.get(key).map(String::as_str).or((key == "challenge").then_some("deterministic"));
    let other = found.iter().find(|(key, found)| expected(key).is_some_and(|text| Some(text) != found.as_deref()));
    if let Some((key, found)) = other {
        return Some(format!("{key} is {found:?}: {evidence:#?}"));
    }
    let tells_why = |note: &String| [NOT_CHALLENGED, NOT_REPLAYED].iter().any(|reason| note.starts_with(reason));
    let is_expected = !case.keys.get("note").is_some_and(tells_why);
    (evidence.replayed.is_some() != is_expected).then(|| format!("replayed or not: {evidence:#?}"))
}
