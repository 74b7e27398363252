//! Holds what validation saw of an implementation to the spec that it is of.

use netquarry_core::structure::{AxisSize, SizeTrial, Trials};
use netquarry_core::verdict::{Evidence, Level, Verdict};
use serde::Serialize;

use super::spec::{Output, OutputAxis, Spec, VariedAxes};

/// One thing that a spec says, and what the implementation does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// `output shape`, `batch independence`, ...
    pub what: String,
    pub outcome: Outcome,
    /// What the spec says.
    pub expected: String,
    /// What was seen.
    pub found: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Same,
    /// The implementation is none of the spec.
    Differs,
    /// The spec demands it, and it was not seen.
    Unknown,
    /// The spec leaves it free: it is another, or was not seen.
    Free,
}

/// What all comparisons come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Conclusion {
    /// All that the spec demands was seen, and nothing differs.
    Fits,
    Differs,
    /// Nothing that was seen differs, and something that the spec demands was not seen.
    Unseen,
}

/// What comparisons come to; one that differs says more than any that could not be made.
pub fn conclusion(comparisons: &[Comparison]) -> Conclusion {
    let any = |outcome| comparisons.iter().any(|each| each.outcome == outcome);
    if any(Outcome::Differs) {
        Conclusion::Differs
    } else if any(Outcome::Unknown) {
        Conclusion::Unseen
    } else {
        Conclusion::Fits
    }
}

/// Everything that the spec says and that can be compared.
pub fn compare(spec: &Spec, verdict: &Verdict) -> Vec<Comparison> {
    let mut all = vec![reached(verdict)];
    if !verdict.reaches(Level::Forward) {
        return all;
    }
    let evidence = &verdict.evidence;
    let trials = evidence.trials.clone().unwrap_or_default();
    all.extend(outputs(&spec.forward.outputs, evidence));
    all.extend(spec.invariants.sizes.iter().flat_map(|varied| sizes(&spec.forward.outputs, varied, &trials)));
    all.extend(holds("batch independence", spec.invariants.batch_independent, trials.batch_independent));
    let deterministic = evidence.challenge.map(|challenge| challenge.deterministic);
    all.extend(holds("determinism", spec.invariants.deterministic, deterministic));
    all.extend(holds("another device", spec.invariants.other_device, trials.other_device));
    all.extend(dtypes(spec, &trials));
    all.extend(training(spec, evidence));
    all.extend(parameters(spec, evidence));
    all
}

fn comparison(
    what: impl Into<String>,
    outcome: Outcome,
    expected: impl Into<String>,
    found: impl Into<String>,
) -> Comparison {
    Comparison { what: what.into(), outcome, expected: expected.into(), found: found.into() }
}

fn reached(verdict: &Verdict) -> Comparison {
    let found = match &verdict.failure {
        Some(failure) => format!("{}: {}", failure.class.name(), failure.message),
        None => verdict.evidence.notes.first().cloned().unwrap_or_else(|| format!("level {}", verdict.level())),
    };
    let outcome = if verdict.reaches(Level::Forward) { Outcome::Same } else { Outcome::Differs };
    let found = if outcome == Outcome::Same { "it runs".to_owned() } else { found };
    comparison("forward pass with the spec's arguments", outcome, "it runs", found)
}

fn outputs(expected: &[Output], evidence: &Evidence) -> Vec<Comparison> {
    let shape = |axes: &[OutputAxis]| axes.iter().map(|axis| axis.size).collect::<Vec<_>>();
    let expected: Vec<String> =
        expected.iter().map(|output| format!("{} {:?}", output.dtype, shape(&output.axes))).collect();
    let found: Vec<String> =
        evidence.forward_outputs.iter().map(|output| format!("{} {:?}", output.dtype, output.shape)).collect();
    let outcome = if expected == found { Outcome::Same } else { Outcome::Differs };
    vec![comparison("outputs", outcome, expected.join(", "), found.join(", "))]
}

/// What works upstream works, and gives the shapes that the rules say.
fn sizes(outputs: &[Output], varied: &VariedAxes, trials: &Trials) -> Vec<Comparison> {
    // The first of them are the recorded ones.
    let sizes = varied.works.iter().skip(1);
    sizes
        .map(|sizes| {
            let axes = varied.axes.iter().zip(sizes);
            let axes: Vec<AxisSize> =
                axes.map(|(axis, size)| AxisSize { input: axis.input.clone(), axis: axis.axis, size: *size }).collect();
            let what = axes.iter().map(|axis| format!("{}.{} = {}", axis.input, axis.axis, axis.size));
            let what = format!("outputs for {}", what.collect::<Vec<_>>().join(", "));
            let expected: Vec<Vec<Option<u64>>> = outputs.iter().map(|output| expected_shape(output, &axes)).collect();
            let trial = trials.sizes.iter().find(|trial| trial.axes == axes);
            compared_shapes(what, &expected, trial)
        })
        .collect()
}

/// The shape of an output where inputs have these sizes; `None` for an axis of which the spec does not say it.
fn expected_shape(output: &Output, axes: &[AxisSize]) -> Vec<Option<u64>> {
    let axis = |axis: &OutputAxis| {
        let rule = axis.follows.iter().find_map(|rule| {
            let varied = axes.iter().find(|varied| varied.input == rule.input && varied.axis == rule.axis)?;
            Some(rule.applied(varied.size))
        });
        match rule {
            Some(size) => size,
            None => (!axis.unexplained).then_some(axis.size),
        }
    };
    output.axes.iter().map(axis).collect()
}

fn compared_shapes(what: String, expected: &[Vec<Option<u64>>], trial: Option<&SizeTrial>) -> Comparison {
    let told: Vec<String> = expected
        .iter()
        .map(|shape| {
            let sizes = shape.iter().map(|size| size.map_or("?".to_owned(), |size| size.to_string()));
            format!("[{}]", sizes.collect::<Vec<_>>().join(", "))
        })
        .collect();
    let told = told.join(", ");
    let Some(trial) = trial else { return comparison(what, Outcome::Unknown, told, "it was not tried") };
    let Some(found) = &trial.outputs else { return comparison(what, Outcome::Differs, told, "it raises") };
    let fits = |(expected, found): (&Vec<Option<u64>>, &Vec<u64>)| {
        let mut sizes = expected.iter().zip(found);
        expected.len() == found.len() && sizes.all(|(expected, found)| expected.is_none_or(|size| size == *found))
    };
    // A trial tells of the first outputs only.
    let is_same = (found.len() == expected.len() || found.len() < expected.len() && !found.is_empty())
        && expected.iter().zip(found).all(fits);
    let shown = found.iter().map(|shape| format!("{shape:?}")).collect::<Vec<_>>().join(", ");
    comparison(what, if is_same { Outcome::Same } else { Outcome::Differs }, told, shown)
}

/// What holds upstream has to hold; what does not is free.
fn holds(what: &str, expected: Option<bool>, found: Option<bool>) -> Option<Comparison> {
    let told = |holds: bool| if holds { "yes" } else { "no" };
    let outcome = match (expected?, found) {
        (true, None) => Outcome::Unknown,
        (true, Some(false)) => Outcome::Differs,
        (true, Some(true)) | (false, Some(false)) => Outcome::Same,
        (false, Some(true) | None) => Outcome::Free,
    };
    Some(comparison(what, outcome, told(expected?), found.map_or("it was not seen", told)))
}

fn dtypes(spec: &Spec, trials: &Trials) -> Vec<Comparison> {
    let expected = spec.invariants.dtypes.iter().filter_map(|(dtype, outputs)| Some((dtype, outputs.as_ref()?)));
    expected
        .map(|(dtype, outputs)| {
            let what = format!("types of outputs for {dtype}");
            let told = outputs.join(", ");
            match trials.dtypes.iter().find(|trial| trial.dtype == *dtype) {
                None => comparison(what, Outcome::Unknown, told, "it was not tried"),
                Some(trial) => match &trial.outputs {
                    None => comparison(what, Outcome::Differs, told, "it raises"),
                    Some(found) if found == outputs => comparison(what, Outcome::Same, told, found.join(", ")),
                    Some(found) => comparison(what, Outcome::Differs, told, found.join(", ")),
                },
            }
        })
        .collect()
}

fn training(spec: &Spec, evidence: &Evidence) -> Option<Comparison> {
    let expected = spec.invariants.training?;
    let told = |raises: bool, output_differs: bool, state_changes: bool| match raises {
        true => "it raises".to_owned(),
        false => {
            let word = |differs| if differs { "another" } else { "the same" };
            format!("{} output, {} state", word(output_differs), word(state_changes))
        }
    };
    let wanted = told(expected.raises, expected.output_differs, expected.state_changes);
    let Some(challenge) = evidence.challenge else {
        return Some(comparison("training mode", Outcome::Unknown, wanted, "it was not seen"));
    };
    let training = challenge.training;
    let found = told(training.raises, training.output_differs, training.state_changes);
    let outcome = if wanted == found { Outcome::Same } else { Outcome::Differs };
    Some(comparison("training mode", outcome, wanted, found))
}

/// How many there are is the implementation's own affair.
fn parameters(spec: &Spec, evidence: &Evidence) -> Option<Comparison> {
    let (expected, found) = (spec.instance.as_ref()?.parameters?, evidence.parameters?);
    let outcome = if expected == found { Outcome::Same } else { Outcome::Free };
    Some(comparison("parameters", outcome, expected.to_string(), found.to_string()))
}

#[cfg(test)]
mod tests {
    use netquarry_core::structure::Varied;
    use netquarry_core::verdict::TensorShape;
    use serde_json::json;

    use super::*;

    /// Of a layer that halves the second axis of what it takes, whatever the batch.
    fn spec() -> Spec {
        let follows = |axis: u32, by: u64| json!([{"input": "x", "axis": axis, "times": 1, "divided_by": by, "rounded": "up", "plus": 0}]);
        serde_json::from_value(json!({
            "id": "pack:pack.Halve",
            "category": "pooling",
            "constructor": {"example": {}},
            "forward": {
                "example": {},
                "outputs": [{"name": "output", "dtype": "float32", "axes": [
                    {"size": 2, "follows": follows(0, 1), "unexplained": false},
                    {"size": 4, "follows": follows(1, 2), "unexplained": false},
                ]}],
            },
            "instance": {"parameters": 0},
            "invariants": {
                "sizes": [
                    {"axes": [{"input": "x", "axis": 0}], "works": [[2], [1], [3]]},
                    {"axes": [{"input": "x", "axis": 1}], "works": [[8], [9]]},
                ],
                "batch_independent": true,
                "deterministic": null,
                "training": null,
                "dtypes": {"float64": ["float64"], "bfloat16": null},
                "other_device": false,
            },
        }))
        .expect("it is a spec")
    }

    fn verdict() -> Verdict {
        let trial = |axis: u32, size: u64, outputs: Option<Vec<u64>>| SizeTrial {
            varied: Varied::Axis,
            axes: vec![AxisSize { input: "x".to_owned(), axis, size }],
            outputs: outputs.map(|shape| vec![shape]),
        };
        let mut verdict = Verdict::default();
        for level in [Level::Parse, Level::Compile, Level::Execute, Level::Construct, Level::Forward] {
            verdict.set(level, netquarry_core::verdict::Outcome::Passed);
        }
        verdict.evidence.parameters = Some(1);
        verdict.evidence.forward_outputs =
            vec![TensorShape { name: "output".to_owned(), shape: vec![2, 4], dtype: "float32".to_owned() }];
        verdict.evidence.trials = Some(Trials {
            sizes: vec![trial(0, 1, Some(vec![1, 4])), trial(0, 3, None), trial(1, 9, Some(vec![2, 4]))],
            batch_independent: Some(true),
            dtypes: Vec::new(),
            other_device: Some(true),
        });
        verdict
    }

    #[test]
    fn everything_that_a_spec_says_is_compared() {
        let told: Vec<String> = compare(&spec(), &verdict())
            .into_iter()
            .map(|each| format!("{:?} {}: {}; {}", each.outcome, each.what, each.expected, each.found))
            .collect();
        assert_eq!(
            told,
            [
                "Same forward pass with the spec's arguments: it runs; it runs",
                "Same outputs: float32 [2, 4]; float32 [2, 4]",
                "Same outputs for x.0 = 1: [1, 4]; [1, 4]",
                "Differs outputs for x.0 = 3: [3, 4]; it raises",
                "Differs outputs for x.1 = 9: [2, 5]; [2, 4]",
                "Same batch independence: yes; yes",
                "Free another device: no; yes",
                "Unknown types of outputs for float64: float64; it was not tried",
                "Free parameters: 0; 1",
            ]
        );
    }

    #[test]
    fn what_does_not_run_is_compared_no_further() {
        let compared = compare(&spec(), &Verdict::default());
        assert_eq!(compared.len(), 1);
        assert_eq!(compared[0].outcome, Outcome::Differs);
        assert_eq!(conclusion(&compared), Conclusion::Differs);
    }

    /// As where the file ends its process, or runs out of time, once it has run forward.
    #[test]
    fn what_is_demanded_and_was_not_seen_fits_no_spec() {
        let mut verdict = verdict();
        verdict.evidence.trials = None;
        let compared = compare(&spec(), &verdict);
        let with = |outcome| {
            compared.iter().filter(|each| each.outcome == outcome).map(|each| each.what.as_str()).collect::<Vec<_>>()
        };
        let unknown = [
            "outputs for x.0 = 1",
            "outputs for x.0 = 3",
            "outputs for x.1 = 9",
            "batch independence",
            "types of outputs for float64",
        ];
        assert_eq!(with(Outcome::Unknown), unknown);
        assert_eq!(with(Outcome::Free), ["another device", "parameters"]);
        assert_eq!(conclusion(&compared), Conclusion::Unseen);
    }

    #[test]
    fn what_the_spec_says_nothing_of_need_not_be_seen() {
        let mut spec = spec();
        spec.invariants.sizes.clear();
        spec.invariants.dtypes.clear();
        spec.invariants.batch_independent = None;
        let mut verdict = verdict();
        verdict.evidence.trials = None;
        assert_eq!(conclusion(&compare(&spec, &verdict)), Conclusion::Fits);
        spec.invariants.deterministic = Some(true);
        assert_eq!(conclusion(&compare(&spec, &verdict)), Conclusion::Unseen);
    }

    #[test]
    fn what_differs_outweighs_what_was_not_seen() {
        let compared = compare(&spec(), &verdict());
        assert!(compared.iter().any(|each| each.outcome == Outcome::Unknown));
        assert_eq!(conclusion(&compared), Conclusion::Differs);
    }
}
