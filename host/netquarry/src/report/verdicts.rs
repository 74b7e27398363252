//! The page about classes of files that were named.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use netquarry_core::verdict::{Level, Tier};

use super::figures::escaped;
use super::parts::{challenges, document, failure_table, failures, figure, levels, outcomes_legend};
use crate::findings::{self, Judged, level_name};
use crate::quantity::{human_count, human_things};
use crate::summary::challenged;
use crate::verdict_text::verdict_text;

/// A class of a file, with its verdict.
#[derive(Clone, Copy, Debug)]
pub struct JudgedFile<'a> {
    pub file: &'a Path,
    pub judged: Judged<'a>,
    /// Why it came no further than its level.
    pub why: &'a str,
    /// What the code was confined by, and what that amounts to; nothing where none ran.
    pub protections: &'a [String],
    pub tier: Option<Tier>,
}

/// The whole page.
pub fn html_of_files(classes: &[JudgedFile<'_>]) -> String {
    let judged = || classes.iter().map(|class| class.judged);
    let tallies = findings::level_tallies(judged());
    let mut body = tiles(&tallies, classes.len());
    for confinement in classes.iter().filter_map(confinement).collect::<BTreeSet<_>>() {
        let _ = writeln!(body, "<p class=\"rate\">{}.</p>", escaped(&confinement));
    }
    figure(&mut body, "Levels of validation", &levels(&tallies), &outcomes_legend(&tallies));
    if let Some(tally) = findings::challenges(judged()) {
        figure(&mut body, "Challenges", &challenges(&tally), &format!("<p>{}.</p>\n", escaped(&challenged(&tally))));
    }
    let failed = findings::failures(judged());
    figure(&mut body, "Why classes failed", &failures(&failed), &failure_table(&failed));
    body.push_str(&table(classes));
    let files: BTreeSet<&Path> = classes.iter().map(|class| class.file).collect();
    let below = format!("{} of {}", human_things(classes.len(), "class"), human_things(files.len(), "file"));
    document("Validation", &below, &body)
}

fn tiles(tallies: &[findings::LevelTally], classes: usize) -> String {
    let tile = |number: usize, what: &str| format!("<div><b>{}</b><span>{what}</span></div>", human_count(number));
    let passed = |level: Level| tallies.iter().find(|tally| tally.level == level).map_or(0, |tally| tally.passed);
    format!(
        "<div class=\"tiles\">{}{}{}{}</div>\n",
        tile(classes, "classes"),
        tile(passed(Level::Execute), "execute"),
        tile(passed(Level::Construct), "are constructed"),
        tile(passed(Level::Forward), "run forward"),
    )
}

fn confinement(class: &JudgedFile<'_>) -> Option<String> {
    Some(format!("The sandbox was {}, by {}", class.tier?.name(), class.protections.join(", ")))
}

fn table(classes: &[JudgedFile<'_>]) -> String {
    let rows: String = classes.iter().map(row).collect();
    format!(
        "<section><h2>Classes</h2>\n<p><input id=\"filter\" type=\"search\" placeholder=\"Filter by name, file, \
         result\" aria-label=\"Filter classes\"> <span id=\"shown\"></span></p>\n\
         <div class=\"wide\"><table id=\"blocks\"><thead><tr><th>class</th><th>file</th><th>level</th>\
         <th>why no further</th></tr></thead><tbody>\n{rows}</tbody></table></div></section>\n"
    )
}

fn row(class: &JudgedFile<'_>) -> String {
    let tainted = if class.judged.evidence.tainted.is_empty() { "" } else { " (tainted)" };
    format!(
        "<tr><td><details><summary>{}{tainted}</summary><pre>{}</pre></details></td><td><code>{}</code></td><td>{}</td>\
         <td>{}</td></tr>\n",
        escaped(class.judged.class_name),
        escaped(&verdict_text(&class.judged)),
        escaped(&class.file.display().to_string()),
        escaped(&level_name(class.judged.level)),
        escaped(class.why),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_every_class_and_nothing_can_break_out_of_it() {
        let mut records = crate::findings::tests::library();
        records[0].evidence.notes.push("</pre><script>".to_owned());
        let protections = ["landlock".to_owned(), "seccomp".to_owned()];
        let class = |record| JudgedFile {
            file: Path::new("my/<model>.py"),
            judged: Judged::from(record),
            why: "runtime_error: a < b",
            protections: &protections,
            tier: Some(Tier::Confined),
        };
        let classes: Vec<JudgedFile<'_>> = records.iter().map(class).collect();
        let html = html_of_files(&classes);
        assert_eq!(html.matches("<tr><td><details>").count(), records.len());
        assert_eq!(html.matches("<script>").count(), 1, "the page's own");
        assert!(html.contains("The sandbox was confined, by landlock, seccomp."));
        assert!(html.contains("my/&lt;model&gt;.py") && html.contains("runtime_error: a &lt; b"));
    }
}
