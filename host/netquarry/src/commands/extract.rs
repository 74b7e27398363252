//! `netquarry extract NAME...`

use netquarry_core::record::BlockRecord;
use netquarry_corpus::load;
use serde::Serialize;

use super::listing::{held_back, why};
use super::{Ending, command_line, tell_failed_calls};
use crate::arguments::ExtractArguments;
use crate::configuration::Settings;
use crate::console::{Console, Format};
use crate::driver::context::Context;
use crate::driver::extract::{self, Ambiguity, AmbiguousName, Extracted, UnknownName};
use crate::findings::{is_promoted, level_name};
use crate::library::costs::FailedCalls;
use crate::library::manifest;
use crate::problem::Problem;
use crate::table::{Align, Table};

#[derive(Serialize)]
struct Answer<'a> {
    extracted: &'a [BlockRecord],
    ambiguous: &'a [AmbiguousName],
    unknown: &'a [UnknownName],
    failed_calls: &'a [FailedCalls],
}

pub(super) fn extract(arguments: &ExtractArguments, settings: &Settings, console: &Console) -> Result<Ending, Problem> {
    let names = names(arguments, settings)?;
    if names.is_empty() {
        console.caution("No names are left to extract");
        return Ok(Ending::Done);
    }
    let ambiguity = match (arguments.all, arguments.first) {
        (true, _) => Ambiguity::TakeAll,
        (_, true) => Ambiguity::TakeFirst,
        _ => Ambiguity::Ask,
    };
    let context = Context::open(settings, console)?;
    let extracted = extract::extract(&context, &names, ambiguity, command_line())?;
    match console.format {
        Format::Json => console.print_json(&Answer {
            extracted: &extracted.records,
            ambiguous: &extracted.ambiguous,
            unknown: &extracted.unknown,
            failed_calls: &extracted.failed_calls,
        })?,
        Format::Human => print(&extracted, settings, console)?,
    }
    let Extracted { records, ambiguous, unknown, missing_sources, failed_calls } = &extracted;
    tell_failed_calls(failed_calls, console);
    if !ambiguous.is_empty() || !unknown.is_empty() || *missing_sources > 0 || !failed_calls.is_empty() {
        Ok(Ending::Incomplete)
    } else if records.iter().any(|record| !is_promoted(record, settings.gate)) {
        Ok(Ending::Findings)
    } else {
        Ok(Ending::Done)
    }
}

/// The names of the command line and those of the list, or where there are none, with `--retry-failed`, those that the
/// manifest says failed; then cut as the user asked.
fn names(arguments: &ExtractArguments, settings: &Settings) -> Result<Vec<String>, Problem> {
    let mut names = arguments.names.clone();
    if let Some(path) = &arguments.from_json {
        names.extend(load::load_targets(path)?);
    }
    if names.is_empty() && settings.retry_failed {
        for record in manifest::read_existing(&settings.out)? {
            names.extend(Some(record?).filter(|record| record.failure.is_some()).map(|record| record.block));
        }
    }
    if let Some(first) = &arguments.start_from {
        let position = names.iter().position(|name| name == first).ok_or_else(|| {
            Problem::new(format!("`{first}` of --start-from is not among the {} names", names.len()))
                .help("give it as it stands in the list")
        })?;
        names.drain(..position);
    }
    names.truncate(arguments.limit.unwrap_or(usize::MAX));
    Ok(names)
}

fn print(extracted: &Extracted, settings: &Settings, console: &Console) -> Result<(), Problem> {
    let mut text = String::new();
    if !extracted.records.is_empty() {
        let mut table = Table::new(&[
            ("block", Align::Left),
            ("level", Align::Left),
            ("lines", Align::Right),
            ("file", Align::Left),
            ("why no further", Align::Left),
        ]);
        for record in &extracted.records {
            let file =
                record.bundle.as_ref().map_or("-".to_owned(), |bundle| settings.out.join(bundle).display().to_string());
            let why = match &record.license_policy {
                Some(held) => held_back(held),
                None => why(record.failure.as_ref(), &record.evidence),
            };
            let lines = record.lines.map_or("-".to_owned(), |lines| lines.to_string());
            table.row(vec![record.block.clone(), level_name(record.level), lines, file, why]);
        }
        text.push_str(&table.render(|style| console.out_style(style)));
    }
    for AmbiguousName { name, candidates } in &extracted.ambiguous {
        text.push_str(&format!("`{name}` is the name of {} blocks:\n", candidates.len()));
        for candidate in candidates {
            text.push_str(&format!("  {candidate}\n"));
        }
    }
    console.print(&text)?;
    if !extracted.ambiguous.is_empty() {
        let count = extracted.ambiguous.len();
        let what = if count == 1 {
            "A name means several blocks".to_owned()
        } else {
            format!("{count} names mean several blocks each")
        };
        console.error(
            &Problem::new(what).help("give a longer name, or take them all with --all, or the first with --first"),
        );
    }
    for UnknownName { name, similar } in &extracted.unknown {
        let problem = Problem::new(format!("No block is called `{name}`"));
        console.error(&match &similar[..] {
            [] => problem.help("`netquarry discover` lists the blocks of the corpus; --corpus names another one"),
            similar => problem.help(format!("did you mean {}?", similar.join(", "))),
        });
    }
    Ok(())
}
