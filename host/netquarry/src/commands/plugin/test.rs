//! `netquarry plugin test [DIR|FILE.wasm]`

use std::fmt::Write as _;

use netquarry_plugin::cases::Difference;
use serde::Serialize;
use serde_json::Value;

use super::component;
use crate::arguments::PluginTestArguments;
use crate::authoring::trial::{self, Outcome, Tried};
use crate::commands::Ending;
use crate::configuration::Settings;
use crate::console::{Console, Format};
use crate::problem::Problem;
use crate::quantity::human_things;

#[derive(Serialize)]
struct Tested<'a> {
    name: &'a str,
    version: &'a str,
    sha256: &'a str,
    passed: usize,
    tried: &'a [Tried],
}

pub(super) fn test(arguments: &PluginTestArguments, settings: &Settings, console: &Console) -> Result<Ending, Problem> {
    let component = component::open(&arguments.target, arguments.offline, settings, console)?;
    let plugin = &component.plugin;
    let mut tried = trial::cases(plugin, &component.cases()?, arguments.bless)?;
    tried.extend(trial::against_hostile_inputs(plugin));
    let passed = tried.iter().filter(|tried| tried.outcome.is_passed()).count();
    let identity = plugin.identity();
    match console.format {
        Format::Json => console.print_json(&Tested {
            name: &identity.name,
            version: &identity.version,
            sha256: &identity.digest,
            passed,
            tried: &tried,
        })?,
        Format::Human => console.print(&text(&tried))?,
    }
    // Fixtures lie beside the component, and examples in it.
    if tried.iter().any(|tried| tried.outcome == Outcome::Blessed && tried.origin == "example") {
        console.status("Blessed", "build the component anew for it to carry its examples as they are now");
    }
    let what = format!(
        "{passed} of {} passed, with {} {}",
        human_things(tried.len(), "case"),
        identity.name,
        identity.version
    );
    console.status("Tested", &what);
    Ok(if passed == tried.len() { Ending::Done } else { Ending::Findings })
}

/// A line for each case, and below it what is wrong with it.
fn text(tried: &[Tried]) -> String {
    let mut text = String::new();
    for Tried { origin, name, outcome } in tried {
        let word = match outcome {
            Outcome::Passed => "passed",
            Outcome::Different { .. } => "DIFFERENT",
            Outcome::Unseen { .. } => "UNSEEN: look at what comes out, and keep it with --bless",
            Outcome::Blessed => "blessed",
            Outcome::Unsteady { .. } => "UNSTEADY: a second run gave something else",
            Outcome::Failed { .. } => "FAILED",
            Outcome::Unusable { .. } => "UNUSABLE",
        };
        line(&mut text, &format!("{origin:8} {name}: {word}"));
        match outcome {
            Outcome::Different { differences } | Outcome::Unsteady { differences } => {
                add_differences(&mut text, differences);
            }
            Outcome::Failed { failures } => {
                failures.iter().for_each(|failure| line(&mut text, &format!("    {failure}")))
            }
            Outcome::Unusable { reason } => line(&mut text, &format!("    {reason}")),
            Outcome::Unseen { output } => {
                let output = serde_json::to_string_pretty(output).expect("its keys are strings");
                output.lines().for_each(|shown| line(&mut text, &format!("    {shown}")));
            }
            Outcome::Passed | Outcome::Blessed => {}
        }
    }
    text
}

/// The cases that differ, each with where.
pub(super) fn differences(cases: &[(String, Vec<Difference>)]) -> String {
    let mut text = String::new();
    for (name, differences) in cases {
        line(&mut text, &format!("{name}: DIFFERENT"));
        add_differences(&mut text, differences);
    }
    text
}

fn add_differences(text: &mut String, differences: &[Difference]) {
    for difference in differences.iter().take(SHOWN) {
        line(text, &format!("    {}", difference.pointer));
        line(text, &format!("      - {}", shown(difference.expected.as_ref())));
        line(text, &format!("      + {}", shown(difference.found.as_ref())));
    }
    if let Some(more) = differences.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        line(text, &format!("    and {}", human_things(more, "more difference")));
    }
}

/// So many differences of a case are shown.
const SHOWN: usize = 10;

/// A value on one line.
fn shown(value: Option<&Value>) -> String {
    const CHARACTERS: usize = 160;
    match value {
        None => "(nothing)".to_owned(),
        Some(Value::String(text)) if text.chars().count() <= CHARACTERS => text.clone(),
        Some(value) => {
            let text = value.to_string();
            match text.char_indices().nth(CHARACTERS) {
                Some((end, _)) => format!("{}...", &text[..end]),
                None => text,
            }
        }
    }
}

fn line(text: &mut String, line: &str) {
    writeln!(text, "{line}").expect("a string takes everything");
}
