//! The page around the figures.

use std::fmt::Write as _;

use netquarry_core::license::policy::Decision;
use netquarry_core::record::BlockRecord;
use netquarry_core::verdict::Level;

use super::figures::{Bar, Segment, escaped, histogram, horizontal_bars, legend};
use super::parts::{challenges, document, failure_table, failures, figure, levels, outcomes_legend};
use crate::findings::{Bin, Findings, Group, Tally, is_held_back, is_promoted, is_removed};
use crate::quantity::human_count;
use crate::summary::{challenged, held_back, operator_import, percentage, tainted};

/// Its name in the output folder.
pub const FILE_NAME: &str = "report.html";

/// What the page is about.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    pub corpus: &'a str,
    /// Name and version or commit of every source, as a reader knows them.
    pub sources: &'a [String],
    pub findings: &'a Findings,
    pub records: &'a [BlockRecord],
}

/// The whole page.
pub fn html(page: &Page<'_>) -> String {
    let mut html = tiles(page.findings);
    for package in &page.findings.operator_imports {
        let _ = writeln!(html, "<p class=\"rate\">{}.</p>", escaped(&operator_import(package)));
    }
    for sentence in page.findings.held_back.iter().flat_map(held_back) {
        let _ = writeln!(html, "<p class=\"rate\">{}.</p>", escaped(&sentence));
    }
    if page.findings.tainted > 0 {
        let _ = writeln!(html, "<p class=\"rate\">{}.</p>", escaped(&tainted(page.findings)));
    }
    figure(&mut html, "From candidates to the library", &funnel(page.findings), "");
    figure(&mut html, "Blocks by repository", &by_source(page.findings), &ends_legend(page.findings));
    figure(&mut html, "Blocks by category", &by_category(page.findings), &ends_legend(page.findings));
    figure(&mut html, "Levels of validation", &levels(&page.findings.levels), &outcomes_legend(&page.findings.levels));
    if let Some(tally) = &page.findings.challenges {
        figure(&mut html, "Challenges", &challenges(tally), &format!("<p>{}.</p>\n", escaped(&challenged(tally))));
    }
    figure(&mut html, "Why blocks failed", &failures(&page.findings.failures), &failure_table(&page.findings.failures));
    figure(&mut html, "Lines per bundle", &lines(page.findings), &median(page.findings));
    figure(&mut html, "Deduplication", &deduplication(page.findings), "");
    html.push_str(&blocks(page));
    document(page.corpus, &page.sources.join(" · "), &html)
}

fn tiles(findings: &Findings) -> String {
    let total = &findings.total;
    let tile = |number: usize, what: &str| format!("<div><b>{}</b><span>{what}</span></div>", human_count(number));
    format!(
        "<div class=\"tiles\">{}{}{}{}</div>\n<p class=\"rate\">{} of {} candidates reached the gate “{}”: {}.</p>\n",
        tile(total.candidates, "candidates"),
        tile(total.bundles, "self-contained files"),
        tile(total.passed[Level::Execute as usize - 1], "execute"),
        tile(total.kept, "in the library"),
        human_count(total.promoted + total.held_back),
        human_count(total.candidates),
        findings.gate.name(),
        escaped(&percentage(&findings.pass_rate)),
    )
}

fn funnel(findings: &Findings) -> String {
    let total = &findings.total;
    let mut bars = vec![Bar::single("candidates", total.candidates), Bar::single("assembled", total.bundles)];
    // What was not tried would end the funnel, and the gate stands where the library is cut.
    let tried = findings.levels.iter().filter(|level| level.level <= findings.gate || level.passed > 0);
    bars.extend(tried.map(|level| Bar::single(level.level.name(), level.passed)));
    bars.push(Bar::single("unique: the library", total.kept));
    horizontal_bars("How many candidates reached each step", &bars, None)
}

/// Only what is drawn is explained.
fn ends_legend(findings: &Findings) -> String {
    let drawn = ends(&findings.total).into_iter().filter(|segment| segment.value > 0);
    legend(&drawn.map(|segment| (segment.class, segment.meaning)).collect::<Vec<_>>())
}

fn ends(tally: &Tally) -> Vec<Segment> {
    vec![
        Segment { class: "fill-main", meaning: "in the library", value: tally.kept },
        Segment { class: "fill-none", meaning: "duplicates", value: tally.duplicates },
        Segment { class: "fill-open", meaning: "held back by their licences", value: tally.held_back },
        Segment {
            class: "fill-bad",
            meaning: "below the gate",
            value: tally.candidates - tally.promoted - tally.held_back,
        },
    ]
}

fn group_bars(groups: &[Group]) -> Vec<Bar> {
    let mut bars: Vec<Bar> = groups.iter().map(|group| Bar::new(&group.name, ends(&group.tally))).collect();
    bars.sort_by_key(|bar| std::cmp::Reverse(bar.shown));
    bars
}

fn by_category(findings: &Findings) -> String {
    let mut bars = group_bars(&findings.categories);
    for bar in &mut bars {
        bar.label = bar.label.replace('_', " ");
    }
    horizontal_bars("Candidates by category and where they ended", &bars, None)
}

#[expect(clippy::cast_precision_loss, reason = "counts of blocks, drawn in pixels")]
fn by_source(findings: &Findings) -> String {
    let bars = group_bars(&findings.sources);
    let mean = findings.total.candidates as f64 / bars.len().max(1) as f64;
    let note = format!("mean {mean:.0}");
    let mark = (bars.len() > 1).then_some((mean, note.as_str()));
    horizontal_bars("Candidates by repository and where they ended", &bars, mark)
}

fn lines(findings: &Findings) -> String {
    let label = |bin: &Bin| match bin.to {
        Some(to) => (format!("{}–{to}", bin.from), bin.count),
        None => (format!("{}+", bin.from), bin.count),
    };
    histogram("Bundles by number of lines", &findings.bundle_lines.iter().map(label).collect::<Vec<_>>())
}

fn median(findings: &Findings) -> String {
    match findings.median_lines {
        Some(median) => format!("<p>Half of the bundles have at most {} lines.</p>\n", human_count(median as usize)),
        None => String::new(),
    }
}

fn deduplication(findings: &Findings) -> String {
    let mut bars = vec![Bar::single("reached the gate", findings.total.promoted)];
    bars.extend(findings.duplicates.iter().map(|reason| {
        let segments = vec![Segment { class: "fill-none", meaning: "removed", value: reason.count }];
        Bar::new(reason.name.replace('_', " "), segments)
    }));
    bars.push(Bar::single("kept", findings.total.kept));
    horizontal_bars("Blocks removed as duplicates, by reason", &bars, None)
}

fn blocks(page: &Page<'_>) -> String {
    let rows: String = page.records.iter().map(|record| row(record, page.findings.gate)).collect();
    format!(
        "<section><h2>Blocks</h2>\n<p><input id=\"filter\" type=\"search\" placeholder=\"Filter by name, category, \
         source, result\" aria-label=\"Filter blocks\"> <span id=\"shown\"></span></p>\n\
         <div class=\"wide\"><table id=\"blocks\"><thead><tr><th>block</th><th>category</th><th>source</th><th>level</th><th>lines</th>\
         <th>licence</th><th>result</th></tr></thead><tbody>\n{rows}</tbody></table></div></section>\n"
    )
}

fn row(record: &BlockRecord, gate: Level) -> String {
    let end = match &record.failure {
        _ if is_promoted(record, gate) && is_removed(record) => "duplicate",
        _ if is_promoted(record, gate) => "in the library",
        _ if is_held_back(record, gate) => match record.license_policy.as_ref().map(|held| held.decision) {
            Some(Decision::Asked) => "waits for a word about its licence",
            Some(Decision::Denied) | None => "licence denied",
        },
        Some(failure) => failure.class.name(),
        None => "undecided",
    };
    let path = record.block.split_once(':').map_or(record.block.as_str(), |(_, path)| path);
    let name = match &record.bundle {
        Some(bundle) => format!("<a href=\"{}\">{}</a>", escaped(bundle), breakable(path)),
        None => breakable(path),
    };
    format!(
        "<tr><td>{name}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
        record.category.name().replace('_', " "),
        escaped(&record.source.name),
        record.level,
        record.lines.map(|lines| lines.to_string()).unwrap_or_default(),
        escaped(record.license.as_deref().unwrap_or("")),
        escaped(&if record.tainted { format!("{end}, tainted") } else { end.to_owned() }),
    )
}

/// A dotted name that may be broken behind its dots, and nowhere else.
fn breakable(path: &str) -> String {
    escaped(path).replace('.', ".<wbr>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_needs_nothing_beside_it_and_has_every_figure() {
        let records = crate::findings::tests::library();
        let findings = Findings::of(&records, Level::Execute);
        let sources = ["timm 1.0.31".to_owned()];
        let page = Page { corpus: "quickstart", sources: &sources, findings: &findings, records: &records };
        let html = html(&page);
        assert_eq!(html.matches("<svg").count(), 7);
        for outside in ["http://cdn", "https://", "src=", "@import", "url("] {
            assert!(!html.contains(outside), "the page refers to something outside: {outside}");
        }
        assert!(html.contains("<a href=\"blocks/DropPath.py\">timm.<wbr>layers.<wbr>drop.<wbr>DropPath</a>"));
    }
}
