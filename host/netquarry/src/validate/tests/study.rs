//! Bundles with what is seen of them once they are constructed: one file of `study_cases/` each.
//!
//! Beside the keys of every case: `state`, `submodules`, `layers`, `trials`, `batch`, `dtypes` and `other device`, each as it
//! is told below, and compared where it is given.

use netquarry_core::structure::{Structure, Trials, Varied};
use netquarry_core::verdict::{Level, Verdict};

use super::{Case, Options, jobs, options, read_cases, run};

#[test]
fn bundles_are_studied() {
    let cases = read_cases("study_cases");
    let limits = super::Limits { cpu_seconds: 30, memory_bytes: 2 << 30, ..options().limits };
    let (verdicts, _) = run(jobs(&cases), &Options { level: Level::Backward, studies: true, limits, ..options() });
    let complaints = cases.iter().filter_map(|case| {
        let verdict = &verdicts[&case.name];
        let complaint = case.complaint(verdict).or_else(|| other_study(case, verdict));
        Some(format!("{}: {}", case.name, complaint?))
    });
    let complaints: Vec<String> = complaints.collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n\n"));
}

/// What was not seen as the case says.
fn other_study(case: &Case, verdict: &Verdict) -> Option<String> {
    let structure = verdict.structure.as_ref();
    let trials = verdict.evidence.trials.clone().unwrap_or_default();
    let found = [
        ("state", structure.map_or_else(|| "nothing".to_owned(), state)),
        ("submodules", structure.map_or_else(|| "nothing".to_owned(), submodules)),
        ("layers", structure.map_or_else(|| "nothing".to_owned(), layers)),
        ("trials", sizes(&trials)),
        (
            "batch",
            trials.batch_independent.map_or("unknown", |it| if it { "independent" } else { "dependent" }).to_owned(),
        ),
        ("dtypes", dtypes(&trials)),
        (
            "other device",
            trials.other_device.map_or("unknown", |works| if works { "works" } else { "raises" }).to_owned(),
        ),
    ];
    let is_other = |(key, found): &&(&str, String)| case.keys.get(*key).is_some_and(|expected| expected != found);
    let (key, found) = found.iter().find(is_other)?;
    Some(format!("{key}: {found}\n{verdict:#?}"))
}

fn state(structure: &Structure) -> String {
    let entry = |entry: &netquarry_core::structure::StateEntry| {
        let kind = serde_json::to_value(entry.kind).unwrap();
        let shape = entry.shape.as_ref().map_or("?".to_owned(), |shape| format!("{shape:?}"));
        let same = entry.same_as.as_ref().map_or(String::new(), |other| format!(" as {other}"));
        format!("{} {} {shape}{same}", entry.name, kind.as_str().unwrap())
    };
    let entries: Vec<String> = structure.state.iter().map(entry).collect();
    if entries.is_empty() { "none".to_owned() } else { entries.join(", ") }
}

fn submodules(structure: &Structure) -> String {
    let module = |module: &netquarry_core::structure::Submodule| {
        let options: Vec<String> = module.options.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let options = if options.is_empty() { String::new() } else { format!("({})", options.join(" ")) };
        format!("{} {}{options}", module.path, module.class_name).trim_start().to_owned()
    };
    structure.submodules.iter().map(module).collect::<Vec<_>>().join(", ")
}

fn layers(structure: &Structure) -> String {
    let call = |call: &netquarry_core::structure::LayerCall| {
        let inputs: Vec<String> = call.inputs.iter().map(u32::to_string).collect();
        let path = call.path.as_ref().map_or(String::new(), |path| format!(" {path}"));
        format!("{}{path}({}) {:?}", call.operation, inputs.join(" "), call.shape.as_deref().unwrap_or_default())
    };
    structure.calls.iter().map(call).collect::<Vec<_>>().join("; ")
}

fn sizes(trials: &Trials) -> String {
    let trial = |trial: &netquarry_core::structure::SizeTrial| {
        let varied = match trial.varied {
            Varied::Batch => "batch",
            Varied::Grid => "grid",
            Varied::Axis => "axis",
            Varied::Axes => "axes",
        };
        let sizes: Vec<String> = trial.axes.iter().map(|axis| axis.size.to_string()).collect();
        let result = match &trial.outputs {
            Some(outputs) => outputs.iter().map(|shape| format!("{shape:?}")).collect::<Vec<_>>().join(" "),
            None => "raises".to_owned(),
        };
        format!("{varied} {} {result}", sizes.join("x"))
    };
    trials.sizes.iter().map(trial).collect::<Vec<_>>().join("; ")
}

fn dtypes(trials: &Trials) -> String {
    let trial = |trial: &netquarry_core::structure::DtypeTrial| {
        format!("{} {}", trial.dtype, trial.outputs.as_ref().map_or("raises".to_owned(), |types| types.join(" ")))
    };
    trials.dtypes.iter().map(trial).collect::<Vec<_>>().join(", ")
}
