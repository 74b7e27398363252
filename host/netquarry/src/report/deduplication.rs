//! The page about a deduplication.

use std::fmt::Write as _;

use super::figures::{Bar, Segment, escaped, histogram, horizontal_bars};
use super::parts::{document, figure};
use crate::curation::{Figures, Method};
use crate::quantity::{human_count, human_things};

/// The whole page. `title` says what was deduplicated.
pub fn html_of_deduplication(title: &str, method: &Method<'_>, figures: &Figures) -> String {
    let tile = |number: usize, what: &str| format!("<div><b>{}</b><span>{what}</span></div>", human_count(number));
    let mut body = format!(
        "<div class=\"tiles\">{}{}{}{}</div>\n",
        tile(figures.read, "models"),
        tile(figures.read - figures.kept, "duplicates"),
        tile(figures.kept, "kept"),
        tile(figures.families, "families"),
    );
    figure(&mut body, "From models to those that stay", &what_became(figures), "");
    let similarities = figures.similarities();
    if !similarities.is_empty() {
        let drawing = histogram("Removed models by similarity to the one that stays", &similarities);
        figure(&mut body, "How similar duplicates are that are no copies", &drawing, "");
    }
    let largest = human_things(figures.largest_family, "model");
    let below =
        format!("<p>{} are on one side. The largest family has {}.</p>\n", figures.family_is, escaped(&largest));
    let bars: Vec<Bar> = figures.splits.iter().map(|(split, count)| bar(split.name(), *count)).collect();
    figure(&mut body, "Splits", &horizontal_bars("Kept models by split", &bars, None), &below);
    body.push_str(&groups(figures));
    let Method { preset, strategies } = method;
    document(title, &format!("Deduplicated by the preset {preset}: {}", strategies.join(", ")), &body)
}

fn what_became(figures: &Figures) -> String {
    let mut bars = vec![bar("read", figures.read)];
    bars.extend(figures.reasons().map(|(reason, count)| {
        Bar::new(reason, vec![Segment { class: "fill-none", meaning: "removed", value: count }])
    }));
    bars.extend(figures.restored.iter().map(|(reason, count)| bar(&reason.replace('_', " "), *count)));
    bars.push(bar("kept", figures.kept));
    horizontal_bars("Models by what became of them", &bars, None)
}

fn bar(label: &str, value: usize) -> Bar {
    Bar::new(label, vec![Segment { class: "fill-main", meaning: "models", value }])
}

fn groups(figures: &Figures) -> String {
    if figures.groups.is_empty() {
        return String::new();
    }
    let mut rows = String::new();
    for (block, count) in &figures.groups {
        let _ = writeln!(rows, "<tr><td><code>{}</code></td><td>{}</td></tr>", escaped(block), human_count(*count));
    }
    format!(
        "<section><h2>Who stands for most others</h2>\n<div class=\"wide\"><table><thead><tr><th>model</th>\
         <th>stands for</th></tr></thead><tbody>\n{rows}</tbody></table></div></section>\n"
    )
}
