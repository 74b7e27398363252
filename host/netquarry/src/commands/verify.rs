//! `netquarry verify [PATH]`: whether a library, or what was exported of it, is still what its records say.

use std::fmt::Write as _;
use std::path::Path;

use netquarry_core::record::BlockRecord;
use netquarry_core::verdict::{Level, Verdict};
use serde::Serialize;

use super::{Ending, of_library, validate};
use crate::arguments::VerifyArguments;
use crate::configuration::Settings;
use crate::console::{Console, Format};
use crate::driver::fetch;
use crate::library::manifest;
use crate::problem::Problem;
use crate::quantity::{human_count, human_things};
use crate::table::{FAINT, HEADING, STRONG};
use crate::verify::upstream::Upstream;
use crate::verify::{Check, Report, Subject, bill, dataset, library, table};

#[derive(Serialize)]
struct Verified<'a> {
    path: &'a Path,
    subject: Subject,
    /// Findings that are no warnings.
    faults: usize,
    #[serde(flatten)]
    report: &'a Report,
}

pub(super) fn verify(arguments: &VerifyArguments, settings: &Settings, console: &Console) -> Result<Ending, Problem> {
    let path = &settings.out;
    let subject = Subject::of(path)?;
    if arguments.verdicts && subject != Subject::Library {
        return Err(Problem::new(format!(
            "`{}` is a {} and has no bundles to validate",
            path.display(),
            subject.name()
        ))
        .help("name the library that it was exported from, or leave out --verdicts"));
    }
    let mut report = match subject {
        Subject::Library => library::verify(path, &upstream(settings, console)),
        Subject::Dataset => dataset::verify(path),
        Subject::Table => table::verify(path)?,
        Subject::BillOfMaterials => bill::verify(path)?,
    };
    if arguments.verdicts {
        verdicts(settings, console, &mut report)?;
    }
    match console.format {
        Format::Json => {
            console.print_json(&Verified { path, subject, faults: report.faults(), report: &report })?;
        }
        Format::Human => console.print(&human(path, subject, &report, console))?,
    }
    Ok(if report.faults() == 0 { Ending::Done } else { Ending::Findings })
}

/// The sources of the library, as far as they are on this machine. A corpus that nobody knows here has none.
fn upstream(settings: &Settings, console: &Console) -> Upstream {
    let corpus = of_library(settings.clone(), &settings.out, console).and_then(|settings| fetch::corpus(&settings));
    corpus.map(|corpus| Upstream::at_hand(&corpus, &settings.cache_dir.join("sources"))).unwrap_or_default()
}

/// Validates the bundles that can be read again, and compares what comes out with the records. Time runs out sooner on a
/// busy machine: what differs is tried once more, one block at a time, and only what differs then is a finding.
fn verdicts(settings: &Settings, console: &Console, report: &mut Report) -> Result<(), Problem> {
    let records: Vec<BlockRecord> = manifest::read_existing(&settings.out)?.filter_map(Result::ok).collect();
    let first = validate::again(&settings.out, records, settings, console)?;
    report.count("verdicts", first.len());
    let different = first.into_iter().filter(|(record, verdict)| difference(record, verdict).is_some());
    let different = different.map(|(record, _)| record).collect();
    let alone = Settings { jobs: Some(1), ..settings.clone() };
    for (record, verdict) in validate::again(&settings.out, different, &alone, console)? {
        if let Some(what) = difference(&record, &verdict) {
            let place = record.bundle.as_deref().unwrap_or(manifest::FILE_NAME);
            report.find(Check::Verdict, place, Some(&record.block), what);
        }
    }
    Ok(())
}

/// In what a verdict differs from a record, up to the highest level that has an outcome there.
fn difference(record: &BlockRecord, verdict: &Verdict) -> Option<String> {
    let highest = validate::tried(record)?;
    let recorded = Verdict { outcomes: record.levels.clone(), ..Verdict::default() };
    let levels = Level::ALL.into_iter().take_while(|level| *level <= highest);
    let different: Vec<String> = levels
        .filter(|level| recorded.outcome(*level) != verdict.outcome(*level))
        .map(|level| format!("{} was {}, and is {}", level.name(), word(&recorded, level), word(verdict, level)))
        .collect();
    if different.is_empty() {
        return None;
    }
    let why = verdict
        .failure
        .as_ref()
        .map(|failure| format!(": {}: {}", failure.class.name(), failure.message.lines().next().unwrap_or_default()));
    Some(format!("{}{}", capitalised(&different.join("; ")), why.unwrap_or_default()))
}

fn word(verdict: &Verdict, level: Level) -> String {
    let value = serde_json::to_value(verdict.outcome(level)).expect("an outcome has a name");
    value.as_str().expect("it is text").replace('_', " ")
}

fn capitalised(text: &str) -> String {
    text[..1].to_uppercase() + &text[1..]
}

fn human(path: &Path, subject: Subject, report: &Report, console: &Console) -> String {
    let (strong, heading, faint) = (console.out_style(STRONG), console.out_style(HEADING), console.out_style(FAINT));
    let (faults, warnings) = (report.faults(), report.findings.len() - report.faults());
    let warnings = if warnings == 0 { String::new() } else { format!(", {}", human_things(warnings, "warning")) };
    let mut text = format!(
        "{strong}The {} `{}`: {}{warnings}{strong:#}\n",
        subject.name(),
        path.display(),
        if faults == 0 { "nothing found".to_owned() } else { human_things(faults, "finding") },
    );
    for (what, count) in &report.counts {
        let _ = writeln!(text, "  {what:<40}{}", human_count(*count));
    }
    for finding in &report.findings {
        let block = finding.block.as_deref().map(|block| format!("  {block}")).unwrap_or_default();
        let kind = if finding.is_warning { "warning  " } else { "" };
        let _ = writeln!(text, "\n{heading}{kind}{}  {}{heading:#}{block}", finding.check.name(), finding.place);
        let _ = writeln!(text, "  {}", finding.what);
        let _ = writeln!(text, "  {faint}help: {}{faint:#}", finding.help);
    }
    text
}
