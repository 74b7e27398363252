//! `netquarry run`: everything; `netquarry emit`: the same, with the list of files.

use serde::Serialize;

use super::{Ending, command_line, tell_failed_calls};
use crate::configuration::Settings;
use crate::console::{Console, Format, Verbosity};
use crate::driver::context::Context;
use crate::driver::run;
use crate::library::run_record::RunRecord;
use crate::problem::Problem;
use crate::quantity::human_things;
use crate::summary::Summary;

pub(super) fn run(settings: &Settings, console: &Console) -> Result<Ending, Problem> {
    let context = Context::open(settings, console)?;
    let summary = run::run(&context, command_line())?;
    match (console.format, console.verbosity) {
        (Format::Json, _) => console.print_json(&summary)?,
        // The library is what was asked for; what there is to say of it was said for people.
        (Format::Human, Verbosity::Quiet) => {}
        (Format::Human, Verbosity::Normal) => {
            console.print(&summary.human(|style| console.out_style(style), console.out_width()))?;
        }
    }
    Ok(ending(&summary, settings, console))
}

#[derive(Serialize)]
struct Emitted {
    files: Vec<EmittedFile>,
}

#[derive(Serialize)]
struct EmittedFile {
    path: String,
    sha256: String,
}

pub(super) fn emit(settings: &Settings, console: &Console) -> Result<Ending, Problem> {
    let context = Context::open(settings, console)?;
    let summary = run::run(&context, command_line())?;
    let record = RunRecord::read(&settings.out)?.expect("it was written a moment ago");
    match console.format {
        Format::Json => {
            let files = record.files.into_iter().map(|(path, sha256)| EmittedFile { path, sha256 }).collect();
            console.print_json(&Emitted { files })?;
        }
        Format::Human => {
            let lines: String =
                record.files.keys().map(|path| format!("{}\n", settings.out.join(path).display())).collect();
            console.print(&lines)?;
        }
    }
    Ok(ending(&summary, settings, console))
}

/// A gate that somebody asked for makes blocks below it findings, and so are blocks about whose licence nobody has
/// decided. Those that the user denies are as they should be.
fn ending(summary: &Summary, settings: &Settings, console: &Console) -> Ending {
    tell_failed_calls(&summary.failed_calls, console);
    let total = &summary.findings.total;
    let below = total.candidates - total.promoted - total.held_back;
    let asked = summary.findings.held_back.as_ref().map_or(0, |held_back| held_back.asked);
    if !summary.missing_sources.is_empty() || !summary.failed_calls.is_empty() {
        return Ending::Incomplete;
    }
    if settings.gate_was_asked_for && below > 0 {
        console.caution(&format!(
            "{} stayed below the gate \"{}\" that was asked for: exit status 1",
            human_things(below, "candidate"),
            settings.gate.name()
        ));
    }
    if asked > 0 {
        console.caution(&format!(
            "{} for your word about a licence: exit status 1",
            if asked == 1 { "A block waits".to_owned() } else { format!("{} wait", human_things(asked, "block")) }
        ));
    }
    if asked > 0 || (settings.gate_was_asked_for && below > 0) { Ending::Findings } else { Ending::Done }
}
