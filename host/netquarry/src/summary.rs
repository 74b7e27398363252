//! What a run says at its end.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anstyle::Style;
use netquarry_core::verdict::Level;
use serde::Serialize;

use crate::course::Course;
use crate::findings::{ChallengeTally, Counted, Findings, Group, HeldBackTally, Tally};
use crate::interval::Proportion;
use crate::library::costs::FailedCalls;
use crate::library::folder::Changes;
use crate::quantity::{human_bytes, human_count, human_seconds, human_things};
use crate::table::{Align, FAINT, HEADING, STRONG, Table};

/// The end of a run, as it is printed and, with `--format json`, as it is written.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    pub corpus: String,
    /// The outputs were there already, from an equal run.
    pub up_to_date: bool,
    /// Sources that could not be fetched, with the reason.
    pub missing_sources: Vec<MissingSource>,
    /// Calls of plugins that gave no result: what they were about is missing.
    pub failed_calls: Vec<FailedCalls>,
    pub findings: Findings,
    pub course: Course,
    pub library: PathBuf,
    pub manifest: PathBuf,
    pub report: PathBuf,
    /// Of the files of the library.
    pub changes: Changes,
}

/// A source of the corpus that could not be had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MissingSource {
    pub name: String,
    pub reason: String,
}

impl Summary {
    /// For a person to read. `style` answers with the style that the output can show; lines are at most `width` wide, where it is given.
    pub fn human(&self, style: impl Fn(Style) -> Style + Copy, width: Option<usize>) -> String {
        let mut text = String::from("\n");
        if self.up_to_date {
            let strong = style(STRONG);
            let _ = writeln!(
                text,
                "{strong}Up to date.{strong:#} Nothing has changed since the last run; this is what it found.\n"
            );
        }
        let total = &self.findings.total;
        text.push_str(&groups(&by_readable_name(&self.findings.categories), total, "category").render(style));
        if self.findings.sources.len() > 1 {
            text.push('\n');
            text.push_str(&groups(&self.findings.sources, total, "source").render(style));
        }
        text.push('\n');
        self.sentences(&mut text, style);
        failures(&self.findings, &mut text, style, width);
        if !self.up_to_date {
            text.push_str(&course(&self.course, style));
            text.push('\n');
        }
        self.places(&mut text, style);
        text
    }

    fn sentences(&self, text: &mut String, style: impl Fn(Style) -> Style) {
        let findings = &self.findings;
        let (strong, total) = (style(STRONG), &findings.total);
        let _ = writeln!(
            text,
            "  {strong}{} of {} candidates reached the gate \"{}\": {}{strong:#}",
            human_count(total.promoted + total.held_back),
            human_count(total.candidates),
            findings.gate.name(),
            percentage(&findings.pass_rate),
        );
        for sentence in findings.held_back.iter().flat_map(held_back) {
            let _ = writeln!(text, "  {strong}{sentence}{strong:#}");
        }
        let verb = if total.complete == 1 { "was" } else { "were" };
        let _ = writeln!(text, "  {} {verb} executed with every name resolved", human_count(total.complete));
        if findings.without_arguments > 0 {
            let _ = writeln!(
                text,
                "  {} could not be constructed or run: no arguments were found that fit, which is not held against them",
                human_count(findings.without_arguments)
            );
        }
        if let Some(parity) = &findings.parity {
            let unknown: Vec<String> =
                parity.unknown.iter().map(|each| format!("{} {}", human_count(each.count), each.name)).collect();
            let compared = parity.same + parity.different;
            let unknown =
                if unknown.is_empty() { String::new() } else { format!("; not compared: {}", unknown.join(", ")) };
            let _ = writeln!(
                text,
                "  {strong}{} of {} that were compared with upstream's class are the same{strong:#}{unknown}",
                human_count(parity.same),
                human_count(compared)
            );
        }
        if let Some(challenges) = &findings.challenges {
            let _ = writeln!(text, "  {}", challenged(challenges));
        }
        if findings.tainted > 0 {
            let _ = writeln!(text, "  {}", tainted(findings));
        }
        if total.duplicates > 0 {
            let reasons: Vec<String> =
                findings.duplicates.iter().map(|each| format!("{} {}", human_count(each.count), each.name)).collect();
            let _ = writeln!(
                text,
                "  {} of the {} that reached the gate are duplicates of a block that is kept ({}); the library holds {}",
                human_count(total.duplicates),
                human_count(total.promoted),
                reasons.join(", "),
                human_count(total.kept)
            );
        }
        for each in &findings.operator_imports {
            let _ = writeln!(text, "  {}", operator_import(each));
        }
        for source in &self.missing_sources {
            let _ = writeln!(text, "  {strong}The source {} is missing:{strong:#} {}", source.name, source.reason);
        }
        for failed in &self.failed_calls {
            let _ = writeln!(text, "  {strong}The plugin {failed}{strong:#}");
        }
    }

    fn places(&self, text: &mut String, style: impl Fn(Style) -> Style) {
        let heading = style(HEADING);
        let blocks = format!("({})", human_things(self.findings.total.kept, "block"));
        for (name, path, note) in [
            ("Library", &self.library, blocks.as_str()),
            ("Manifest", &self.manifest, ""),
            ("Report", &self.report, ""),
        ] {
            let line = format!("  {heading}{name:<8}{heading:#}  {} {note}", path.display());
            let _ = writeln!(text, "{}", line.trim_end());
        }
        if !self.findings.failures.is_empty() {
            let folder = self.library.parent().expect("the blocks lie in the folder of the library");
            let _ = writeln!(text, "  {heading}Failures{heading:#}  netquarry report failures {}", folder.display());
        }
    }
}

/// What blocks answered that they cannot have prepared.
pub fn challenged(tally: &ChallengeTally) -> String {
    let ChallengeTally { challenged, answered, deterministic, replayed, not_replayed } = tally;
    let reasons: Vec<String> =
        not_replayed.iter().map(|each| format!("{} {}", human_count(each.count), each.name)).collect();
    let reasons = if reasons.is_empty() { String::new() } else { format!("; not replayed: {}", reasons.join(", ")) };
    format!(
        "{} of {} that ran forward were replayed from their exported graphs{reasons}; {} of {} that answered random \
         challenges did so alike in two processes",
        human_count(*replayed),
        human_count(*challenged),
        human_count(*deterministic),
        human_count(*answered),
    )
}

/// What the policy about licences does with blocks that reached the gate: a sentence for those that it denies, and one
/// for those that wait for the user's word, with how to give it.
pub fn held_back(tally: &HeldBackTally) -> Vec<String> {
    let HeldBackTally { denied, denied_licenses, asked, asked_licenses } = tally;
    let named = |licenses: &[Counted]| {
        let each = licenses.iter().map(|each| format!("{} {}", each.name, human_count(each.count)));
        each.collect::<Vec<_>>().join(", ")
    };
    let mut sentences = Vec::new();
    if *denied > 0 {
        let (number, licenses) = (human_count(*denied), named(denied_licenses));
        sentences.push(format!("{number} of these stay out of the library, denied by [licenses]: {licenses}"));
    }
    if *asked > 0 {
        let (number, licenses) = (human_count(*asked), named(asked_licenses));
        let names: Vec<String> = asked_licenses.iter().map(|each| format!("\"{}\"", each.name)).collect();
        sentences.push(format!(
            "{number} of these wait for your word about their licences: {licenses}; allow = [{}] under [licenses] of \
             netquarry.toml or --allow-license takes them",
            names.join(", ")
        ));
    }
    sentences
}

/// `3 are tainted, whatever the verdict: the code could lie by what it touches (torch 2, frames 1)`
pub fn tainted(findings: &Findings) -> String {
    let reasons = findings.taint_reasons.iter();
    let reasons: Vec<String> = reasons.map(|each| format!("{} {}", each.name, human_count(each.count))).collect();
    let verb = if findings.tainted == 1 { "is" } else { "are" };
    let number = human_count(findings.tainted);
    format!(
        "{number} {verb} tainted, whatever the verdict: the code could lie by what it touches ({})",
        reasons.join(", ")
    )
}

/// What bundles still take from a package that they are from.
pub fn operator_import(package: &Counted) -> String {
    format!(
        "The compiled operators of {} are imported by {}; its Python modules stay out of reach",
        package.name,
        human_things(package.count, "block")
    )
}

/// `93.6% (as a sample: 92.0% to 94.9% with 95% confidence)`, the interval being Wilson's.
pub fn percentage(proportion: &Proportion) -> String {
    match (proportion.rate, proportion.low, proportion.high) {
        (Some(rate), Some(low), Some(high)) => {
            format!(
                "{:.1}% (as a sample: {:.1}% to {:.1}% with 95% confidence)",
                100.0 * rate,
                100.0 * low,
                100.0 * high
            )
        }
        _ => "no candidates".to_owned(),
    }
}

/// `transformer block` for `transformer_block`.
fn by_readable_name(groups: &[Group]) -> Vec<Group> {
    groups.iter().map(|group| Group { name: group.name.replace('_', " "), ..group.clone() }).collect()
}

fn groups(groups: &[Group], total: &Tally, what: &str) -> Table {
    let level = |level: Level| level as usize - 1;
    let columns = [
        (what, Align::Left),
        ("candidates", Align::Right),
        ("bundled", Align::Right),
        ("executed", Align::Right),
        ("constructed", Align::Right),
        ("forward", Align::Right),
        ("reached the gate", Align::Right),
        ("in the library", Align::Right),
    ];
    let mut table = Table::new(&columns);
    let cells = |name: &str, tally: &Tally| {
        let counts = [
            tally.candidates,
            tally.bundles,
            tally.passed[level(Level::Execute)],
            tally.passed[level(Level::Construct)],
            tally.passed[level(Level::Forward)],
            tally.promoted + tally.held_back,
            tally.kept,
        ];
        [name.to_owned()].into_iter().chain(counts.map(human_count)).collect::<Vec<_>>()
    };
    for group in groups {
        table.row(cells(&group.name, &group.tally));
    }
    table.total(cells("total", total));
    table
}

/// The top reasons of failure, one line each.
fn failures(findings: &Findings, text: &mut String, style: impl Fn(Style) -> Style, width: Option<usize>) {
    const SHOWN: usize = 6;
    if findings.failures.is_empty() && findings.undecided == 0 {
        text.push('\n');
        return;
    }
    let (heading, faint) = (style(HEADING), style(FAINT));
    let _ = writeln!(text, "\n  {heading}Why blocks failed, at whatever level{heading:#}");
    let names: Vec<&str> = findings.failures.iter().map(|failure| failure.class.name()).collect();
    let longest = names.iter().map(|name| name.len()).max().unwrap_or(0);
    for (failure, name) in findings.failures.iter().zip(&names).take(SHOWN) {
        let example = format!("{} in {}", first_line(&failure.message), failure.block);
        let room = width.map_or(usize::MAX, |width| width.saturating_sub(longest + 12).max(20));
        let _ = writeln!(
            text,
            "  {name:<longest$}  {:>5}  {faint}{}{faint:#}",
            human_count(failure.count),
            shortened(&example, room)
        );
    }
    if findings.failures.len() > SHOWN {
        let rest: usize = findings.failures[SHOWN..].iter().map(|failure| failure.count).sum();
        let classes = human_things(findings.failures.len() - SHOWN, "other class");
        let _ = writeln!(text, "  and {} more, of {classes}", human_count(rest));
    }
    if findings.failed_above_gate > 0 {
        let _ = writeln!(
            text,
            "  {} of these failed above the gate \"{}\", which they had reached",
            human_count(findings.failed_above_gate),
            findings.gate.name()
        );
    }
    if findings.undecided > 0 {
        let _ = writeln!(text, "  {} stayed below the gate without a failure", human_count(findings.undecided));
    }
    text.push('\n');
}

/// Where the time went, stage by stage.
pub fn course(course: &Course, style: impl Fn(Style) -> Style) -> String {
    let mut table = Table::new(&[
        ("stage", Align::Left),
        ("what", Align::Left),
        ("wall", Align::Right),
        ("processor", Align::Right),
        ("from the cache", Align::Right),
    ]);
    for stage in &course.stages {
        let cached = match stage.cached {
            0 => "-".to_owned(),
            cached if cached == stage.items => "all".to_owned(),
            cached => human_count(cached),
        };
        table.row(vec![
            stage.stage.name().to_owned(),
            human_things(stage.items, &stage.unit),
            human_seconds(stage.wall_seconds),
            human_seconds(stage.cpu_seconds),
            cached,
        ]);
    }
    let peak = match course.peak_memory {
        0 => String::new(),
        bytes => format!("peak memory {}", human_bytes(bytes)),
    };
    table.total(vec![
        "total".to_owned(),
        peak,
        human_seconds(course.wall_seconds),
        human_seconds(course.cpu_seconds),
        String::new(),
    ]);
    let mut text = table.render(style);
    if let Some(validation) = &course.validation {
        let _ = writeln!(
            text,
            "  a process with a bundle took {:.0} ms of processor time in the median, {:.0} ms in nine of ten",
            1e3 * validation.median_cpu_seconds,
            1e3 * validation.ninth_decile_cpu_seconds
        );
    }
    text
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or("")
}

fn shortened(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    text.chars().take(room.saturating_sub(3)).chain("...".chars()).collect()
}

/// Paths of the library's parts, below its folder.
pub fn places(out: &Path) -> [PathBuf; 3] {
    [out.join("blocks"), out.join(crate::library::manifest::FILE_NAME), out.join(crate::report::FILE_NAME)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::course::{Stage, StageCourse, ValidationCourse};

    fn summary() -> Summary {
        let [library, manifest, report] = places(Path::new("out"));
        let stage = |stage, unit: &str, items, cached, wall_seconds| StageCourse {
            stage,
            unit: unit.to_owned(),
            items,
            cached,
            wall_seconds,
            cpu_seconds: 2.0 * wall_seconds,
        };
        Summary {
            corpus: "quickstart".to_owned(),
            up_to_date: false,
            missing_sources: vec![MissingSource { name: "gone".to_owned(), reason: "it does not exist".to_owned() }],
            failed_calls: vec![FailedCalls {
                plugin: "emit-x".to_owned(),
                version: "0.1.0".to_owned(),
                stage: "emit".to_owned(),
                failed: 1,
                calls: 3,
            }],
            findings: Findings::of(&crate::findings::tests::library(), Level::Execute),
            course: Course {
                stages: vec![
                    stage(Stage::Fetch, "source", 2, 2, 0.31),
                    stage(Stage::Validate, "bundle", 1034, 12, 210.0),
                ],
                wall_seconds: 211.0,
                cpu_seconds: 420.0,
                peak_memory: 912_000_000,
                validation: Some(ValidationCourse {
                    median_cpu_seconds: 0.028,
                    ninth_decile_cpu_seconds: 0.31,
                    bundles: 1022,
                    retries: 0,
                    workers_started: 2,
                    workers_lost: 0,
                    worker_peak: 700_000_000,
                    exporter_peak: 0,
                    bundle_peak: 300_000_000,
                }),
            },
            library,
            manifest,
            report,
            changes: Changes { written: 7, unchanged: 0, removed: 0 },
        }
    }

    #[test]
    fn a_summary_reads_well() {
        insta::assert_snapshot!(summary().human(|_| Style::new(), Some(100)));
    }

    #[test]
    fn a_summary_tells_apart_what_licences_hold_back() {
        let counted = |name: &str, count| vec![Counted { name: name.to_owned(), count }];
        let tally = HeldBackTally {
            denied: 1200,
            denied_licenses: counted("AGPL-3.0-only", 1200),
            asked: 2,
            asked_licenses: counted("GPL-3.0-only", 2),
        };
        insta::assert_snapshot!(held_back(&tally).join("\n"), @r#"
        1,200 of these stay out of the library, denied by [licenses]: AGPL-3.0-only 1,200
        2 of these wait for your word about their licences: GPL-3.0-only 2; allow = ["GPL-3.0-only"] under [licenses] of netquarry.toml or --allow-license takes them
        "#);
    }

    #[test]
    fn a_second_run_says_that_nothing_changed() {
        let text = Summary { up_to_date: true, ..summary() }.human(|_| Style::new(), None);
        assert!(text.contains("Up to date."), "{text}");
        assert!(!text.contains("processor"), "{text}");
    }
}
