//! What both pages are made of: the frame, and figures of verdicts, of whatever classes they are.

use std::fmt::Write as _;

use super::figures::{Bar, Segment, escaped, horizontal_bars, legend};
use crate::findings::{ChallengeTally, FailureTally, LevelTally};

const STYLE: &str = include_str!("report.css");
const SCRIPT: &str = include_str!("report.js");

/// A whole page around its body.
pub(super) fn document(title: &str, below: &str, body: &str) -> String {
    let (title, below) = (escaped(title), escaped(below));
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>NetQuarry: {title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <header><h1>{title}</h1><p>{below}</p></header>\n\
         {body}</main>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

pub(super) fn figure(html: &mut String, title: &str, drawing: &str, below: &str) {
    let _ = write!(html, "<section><h2>{}</h2>\n{drawing}\n{below}</section>\n", escaped(title));
}

fn outcomes(level: &LevelTally) -> [Segment; 4] {
    [
        Segment { class: "fill-main", meaning: "passed", value: level.passed },
        Segment { class: "fill-none", meaning: "not applicable", value: level.not_applicable },
        Segment { class: "fill-open", meaning: "unknown or not tried", value: level.unknown },
        Segment { class: "fill-bad", meaning: "failed", value: level.failed },
    ]
}

/// Only what is drawn is explained.
pub(super) fn outcomes_legend(tallies: &[LevelTally]) -> String {
    let mut drawn: Vec<(&str, &str)> = Vec::new();
    for segment in tallies.iter().flat_map(outcomes).filter(|segment| segment.value > 0) {
        if !drawn.contains(&(segment.class, segment.meaning)) {
            drawn.push((segment.class, segment.meaning));
        }
    }
    legend(&drawn)
}

pub(super) fn levels(tallies: &[LevelTally]) -> String {
    let bar = |level: &LevelTally| Bar {
        label: format!("{} {}", level.level as u8, level.level.name()),
        segments: outcomes(level).to_vec(),
        shown: level.passed,
    };
    horizontal_bars("Outcomes by level", &tallies.iter().map(bar).collect::<Vec<_>>(), None)
}

/// Of the blocks that ran forward, how many answered challenges, and how.
pub(super) fn challenges(tally: &ChallengeTally) -> String {
    let bars = [
        Bar::single("challenged", tally.challenged),
        Bar::single("answered", tally.answered),
        Bar::single("deterministic", tally.deterministic),
        Bar::single("replayed", tally.replayed),
    ];
    horizontal_bars("What challenges came to", &bars, None)
}

pub(super) fn failures(tallies: &[FailureTally]) -> String {
    let bar = |failure: &FailureTally| {
        let segments = vec![Segment { class: "fill-bad", meaning: "blocks", value: failure.count }];
        Bar::new(failure.class.name().replace('_', " "), segments)
    };
    if tallies.is_empty() {
        return "<p>None did.</p>".to_owned();
    }
    horizontal_bars("Failed blocks by class", &tallies.iter().map(bar).collect::<Vec<_>>(), None)
}

pub(super) fn failure_table(tallies: &[FailureTally]) -> String {
    if tallies.is_empty() {
        return String::new();
    }
    let row = |failure: &FailureTally| {
        let message = failure.message.lines().next().unwrap_or("");
        format!(
            "<tr><td>{}</td><td><code>{}</code></td><td><code>{}</code></td></tr>\n",
            escaped(failure.class.name()),
            escaped(message),
            escaped(&failure.block)
        )
    };
    let rows: String = tallies.iter().map(row).collect();
    format!(
        "<table><thead><tr><th>class</th><th>for example</th><th>in</th></tr></thead><tbody>\n{rows}</tbody></table>\n"
    )
}
