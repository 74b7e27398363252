//! The trial of a component: its cases, what no author thinks of, and whether two runs give the same.

use netquarry_plugin::cases::{Case, CaseRun, Difference, differences, hostile};
use netquarry_plugin::{CallFailure, Plugin};
use serde::Serialize;
use serde_json::Value;

use super::cases::{NamedCase, Origin};
use crate::problem::Problem;

/// What became of one case.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    Passed,
    /// The output was not what is expected.
    Different {
        differences: Vec<Difference>,
    },
    /// Nobody has looked at the output yet.
    Unseen {
        output: Value,
    },
    /// It was written down as what is expected.
    Blessed,
    /// A second run gave something else.
    Unsteady {
        differences: Vec<Difference>,
    },
    /// Calls failed in a way that none may: they trapped, or went beyond a limit, or broke the contract.
    Failed {
        failures: Vec<String>,
    },
    /// It could not be run.
    Unusable {
        reason: String,
    },
}

impl Outcome {
    pub fn is_passed(&self) -> bool {
        matches!(self, Self::Passed | Self::Blessed)
    }
}

/// A case that was tried.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tried {
    pub origin: &'static str,
    pub name: String,
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// Runs every case twice. Where `bless` is set, outputs that are not as expected are written down as what is.
pub fn cases(plugin: &Plugin, cases: &[NamedCase], bless: bool) -> Result<Vec<Tried>, Problem> {
    let tried = |named: &NamedCase| -> Result<Tried, Problem> {
        let origin = match named.origin {
            Origin::Example(_) => "example",
            Origin::Fixture(_) => "fixture",
        };
        let outcome = match steady(plugin, &named.case) {
            Ok(run) => match judged(&named.case.output, &run) {
                Outcome::Different { .. } | Outcome::Unseen { .. } if bless => {
                    named.bless(run.output)?;
                    Outcome::Blessed
                }
                outcome => outcome,
            },
            Err(outcome) => outcome,
        };
        Ok(Tried { origin, name: named.name.clone(), outcome })
    };
    cases.iter().map(tried).collect()
}

/// Runs what no author thinks of: an answer or a refusal is well, anything else is not.
pub fn against_hostile_inputs(plugin: &Plugin) -> Vec<Tried> {
    let tried = |(name, case): (&str, Case)| {
        let outcome = match steady(plugin, &case) {
            Ok(run) => match defects(&run) {
                defects if defects.is_empty() => Outcome::Passed,
                failures => Outcome::Failed { failures },
            },
            Err(outcome) => outcome,
        };
        Tried { origin: "hostile", name: name.to_owned(), outcome }
    };
    hostile(plugin.description().kind).into_iter().map(tried).collect()
}

/// What two runs agree on.
fn steady(plugin: &Plugin, case: &Case) -> Result<CaseRun, Outcome> {
    let run = || case.run(plugin).map_err(|error| Outcome::Unusable { reason: error.to_string() });
    let (first, second) = (run()?, run()?);
    match differences(&first.output, &second.output) {
        differences if differences.is_empty() => Ok(first),
        differences => Err(Outcome::Unsteady { differences }),
    }
}

fn judged(expected: &Value, run: &CaseRun) -> Outcome {
    // Where a failure is what is expected, it is shown by the case.
    if expected == &run.output {
        return Outcome::Passed;
    }
    match (defects(run), expected) {
        (failures, _) if !failures.is_empty() => Outcome::Failed { failures },
        (_, Value::Null) => Outcome::Unseen { output: run.output.clone() },
        _ => Outcome::Different { differences: differences(expected, &run.output) },
    }
}

/// The failures of a run that are none of the plugin's own words.
fn defects(run: &CaseRun) -> Vec<String> {
    let is_defect = |failure: &CallFailure| !matches!(failure, CallFailure::Refused { .. });
    run.failures.iter().filter(|error| is_defect(&error.failure)).map(ToString::to_string).collect()
}
