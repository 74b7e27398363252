//! `netquarry plugin replay`: a call that failed in a run, made again.

use netquarry_plugin::kept::{KeptCall, Outcome};
use serde_json::json;

use super::component;
use crate::arguments::PluginReplayArguments;
use crate::commands::Ending;
use crate::configuration::Settings;
use crate::console::{Console, Format};
use crate::problem::Problem;
use crate::quantity::human_things;

pub(super) fn replay(
    arguments: &PluginReplayArguments,
    settings: &Settings,
    console: &Console,
) -> Result<Ending, Problem> {
    let PluginReplayArguments { call: folder, component, offline } = arguments;
    let call = KeptCall::read(folder)?;
    let component = component.clone().unwrap_or_else(|| KeptCall::component(folder));
    let plugin = component::open(&component, *offline, settings, console)?.plugin;
    let outcome = call.replay(&plugin)?;
    let is_as_kept = outcome == call.outcome;
    match console.format {
        Format::Json => console.print_json(&json!({
            "plugin": plugin.identity().to_string(),
            "function": call.function,
            "item": call.item,
            "outcome": outcome,
            "as_kept": is_as_kept,
        }))?,
        Format::Human => {
            let KeptCall { function, item, host_calls, .. } = &call;
            let answers = human_things(host_calls.len(), "answer");
            console.status(
                "Replayed",
                &format!("{function} about {item} with {answers} of the host, of {}", plugin.identity()),
            );
            match &outcome {
                Outcome::Answered(answer) => {
                    let answer = serde_json::to_string_pretty(answer).expect("its keys are strings");
                    console.print(&format!("{answer}\n"))?;
                }
                Outcome::Failed { why, log } => {
                    let same = if is_as_kept { "It fails as it did" } else { "It fails, and not as it did" };
                    let log: String = log.iter().map(|line| format!("\n  {line}")).collect();
                    console.print(&format!("{same}: {why}{log}\n"))?;
                }
            }
        }
    }
    Ok(match outcome {
        Outcome::Answered(_) => Ending::Done,
        Outcome::Failed { .. } => Ending::Findings,
    })
}
