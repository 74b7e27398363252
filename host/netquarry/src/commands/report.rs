//! `netquarry report failures [LIBRARY]`: what to mend next.

use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;

use super::Ending;
use crate::console::{Console, Format};
use crate::explain::{Example, FailureGroup, Groups, OpenQuestions, UndecidedGroup};
use crate::library::costs::FailedCalls;
use crate::library::manifest;
use crate::library::run_record::RunRecord;
use crate::problem::Problem;
use crate::quantity::{human_count, human_things};
use crate::table::{FAINT, HEADING, STRONG};

#[derive(Serialize)]
struct FailureReport {
    candidates: usize,
    /// Blocks at which some level failed.
    failed: usize,
    groups: Vec<FailureGroup>,
    /// Names that are unresolved in bundles that did not fail for it.
    latent: Vec<FailureGroup>,
    /// Blocks that did not fail and of which yet not everything is known that was asked.
    undecided: Vec<UndecidedGroup>,
    /// Calls of plugins that gave no result when the library was made, where its `run.json` can be read.
    failed_calls: Option<Vec<FailedCalls>>,
}

/// Prints at most `limit` groups for people; programs get all.
pub(super) fn failures(library: &Path, limit: usize, console: &Console) -> Result<Ending, Problem> {
    let (mut candidates, mut failed) = (0, 0);
    let (mut groups, mut latent, mut undecided) = (Groups::default(), Groups::default(), OpenQuestions::default());
    for record in manifest::read_existing(library)? {
        let record = record?;
        candidates += 1;
        failed += usize::from(record.failure.is_some());
        groups.add_failure(&record);
        latent.add_latent(&record);
        undecided.add(&record);
    }
    let (groups, latent, undecided) = (groups.sorted(), latent.sorted(), undecided.sorted());
    // All else stands in the manifest.
    let run = RunRecord::read(library).unwrap_or_else(|problem| {
        console.warn(&problem);
        None
    });
    let failed_calls = run.map(|run| FailedCalls::among(&run.costs));
    let report = FailureReport { candidates, failed, groups, latent, undecided, failed_calls };
    match console.format {
        Format::Json => console.print_json(&report)?,
        Format::Human => console.print(&human(&report, limit, console))?,
    }
    Ok(Ending::Done)
}

fn human(report: &FailureReport, limit: usize, console: &Console) -> String {
    let strong = console.out_style(STRONG);
    let mut text = format!(
        "{strong}{} of {} failed, for {}{strong:#}\n",
        human_count(report.failed),
        human_things(report.candidates, "candidate"),
        human_things(report.groups.len(), "reason")
    );
    for failed in report.failed_calls.iter().flatten() {
        let _ = writeln!(text, "{strong}The plugin {failed}{strong:#}");
    }
    for group in report.groups.iter().take(limit) {
        text.push_str(&section(group, console));
    }
    if report.groups.len() > limit {
        let _ =
            writeln!(text, "\nand {}; --limit shows more", human_things(report.groups.len() - limit, "other reason"));
    }
    if !report.latent.is_empty() {
        let _ =
            writeln!(text, "\n{strong}Names that are not resolved, and that nothing has looked up so far{strong:#}");
        for group in report.latent.iter().take(limit) {
            text.push_str(&section(group, console));
        }
    }
    if !report.undecided.is_empty() {
        let _ = writeln!(text, "\n{strong}Neither failed nor known{strong:#}");
        for group in report.undecided.iter().take(limit) {
            text.push_str(&open_question(group, console));
        }
    }
    text
}

fn open_question(group: &UndecidedGroup, console: &Console) -> String {
    let heading = console.out_style(HEADING);
    let UndecidedGroup { reason, blocks, example, note } = group;
    let blocks = human_things(blocks.len(), "block");
    let said = note.strip_prefix(reason.as_str()).and_then(|rest| rest.strip_prefix(": ")).unwrap_or_default();
    let said = said.lines().next().map(|line| format!("  {line}\n")).unwrap_or_default();
    format!("\n{heading}{blocks}  {reason}{heading:#}\n{said}  in {example}\n")
}

fn section(group: &FailureGroup, console: &Console) -> String {
    let heading = console.out_style(HEADING);
    let class = group.class.name();
    let blocks = human_things(group.blocks.len(), "block");
    format!("\n{heading}{blocks}  {class}  {}{heading:#}\n{}", group.root, example(&group.example, console))
}

fn example(example: &Example, console: &Console) -> String {
    let faint = console.out_style(FAINT);
    let mut text = format!("  {}\n", example.message.lines().next().unwrap_or_default());
    match &example.upstream {
        Some(place) => _ = writeln!(text, "  at {place}, in {}", example.block),
        None => _ = writeln!(text, "  in {}", example.block),
    }
    for (depth, link) in example.chain.iter().enumerate() {
        let name = link.definition.split_once(':').map_or(link.definition.as_str(), |(_, path)| path);
        let [first, last] = link.lines;
        let indent = "  ".repeat(depth + 2);
        let _ = writeln!(text, "{indent}{name}  {faint}{}:{first}-{last}{faint:#}", link.path);
    }
    if let Some(hint) = &example.hint {
        let _ = writeln!(text, "  hint: {hint}");
    }
    text
}
