//! `netquarry plugin replay`: a call that failed in a run, made again.

use netquarry_plugin::FailureClass;
use netquarry_plugin::kept::{CallOutcome, KeptCall};
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
    let component = match component {
        Some(other) => other.clone(),
        None => call.component(folder)?,
    };
    let plugin = component::open(&component, *offline, settings, console)?.plugin;
    let outcome = call.replay(&plugin)?;
    let is_as_kept = outcome == call.outcome;
    let is_same_component = call.is_of(&plugin);
    match console.format {
        Format::Json => console.print_json(&json!({
            "plugin": plugin.identity().to_string(),
            "function": call.function,
            "item": call.item,
            "outcome": outcome,
            "as_kept": is_as_kept,
            "same_class": outcome.class() == call.outcome.class(),
            "same_component": is_same_component,
        }))?,
        Format::Human => {
            let KeptCall { function, item, host_calls, .. } = &call;
            let answers = human_things(host_calls.iter().flatten().count(), "answer");
            let of = plugin.identity();
            console.status("Replayed", &format!("`{function}` of {of} on {item}, with {answers} of the host"));
            if !is_same_component {
                let KeptCall { plugin, version, sha256, .. } = &call;
                console.status("Instead", &format!("of {plugin} {version} (sha256:{sha256}), whose call was kept"));
            }
            match &outcome {
                CallOutcome::Answered(answer) => {
                    let answer = serde_json::to_string_pretty(answer).expect("its keys are strings");
                    console.print(&format!("{answer}\n"))?;
                }
                CallOutcome::Failed { class, why, log } => {
                    let same = match call.outcome.class() {
                        _ if *class == FailureClass::Unanswered => {
                            "It gets elsewhere than the call that was kept, and whether it is answered only a run shows"
                                .to_owned()
                        }
                        _ if is_as_kept => "It fails as it did".to_owned(),
                        Some(kept) if kept == *class => format!("It fails as it did ({class}), in other words"),
                        Some(kept) => format!("It fails, and not as it did ({class} instead of {kept})"),
                        None => format!("It fails, and did not ({class})"),
                    };
                    let log: String = log.iter().map(|line| format!("\n  {line}")).collect();
                    console.print(&format!("{same}: {why}{log}\n"))?;
                }
            }
        }
    }
    Ok(match outcome {
        CallOutcome::Answered(_) => Ending::Done,
        CallOutcome::Failed { .. } => Ending::Findings,
    })
}
