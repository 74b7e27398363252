//! Charts as inline SVG. Colours are classes of the style sheet, so that they follow the reader's theme.

use std::fmt::Write as _;

use crate::quantity::human_count;

/// A part of a bar. `class` is one of the style sheet's fills.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    pub(super) class: &'static str,
    pub(super) meaning: &'static str,
    pub(super) value: usize,
}

#[derive(Clone, Debug)]
pub(super) struct Bar {
    pub(super) label: String,
    pub(super) segments: Vec<Segment>,
    /// The number at its end.
    pub(super) shown: usize,
}

impl Bar {
    pub(super) fn single(label: impl Into<String>, value: usize) -> Self {
        Self::new(label, vec![Segment { class: "fill-main", meaning: "blocks", value }])
    }

    /// A bar that shows the sum of its segments.
    pub(super) fn new(label: impl Into<String>, segments: Vec<Segment>) -> Self {
        let shown = segments.iter().map(|segment| segment.value).sum();
        Self { label: label.into(), segments, shown }
    }

    fn length(&self) -> usize {
        self.segments.iter().map(|segment| segment.value).sum()
    }
}

const WIDTH: f64 = 720.0;
const LABELS: f64 = 170.0;
const VALUES: f64 = 70.0;
const ROW: f64 = 26.0;
const BAR: f64 = 16.0;

/// Horizontal bars from one axis, each with its total at the end. `mark` draws a dashed line at a value, with its text.
#[expect(clippy::cast_precision_loss, reason = "counts of blocks, drawn in pixels")]
pub(super) fn horizontal_bars(description: &str, bars: &[Bar], mark: Option<(f64, &str)>) -> String {
    let most = bars.iter().map(Bar::length).max().unwrap_or(0).max(1) as f64;
    let scale = (WIDTH - LABELS - VALUES) / most;
    let top = if mark.is_some() { 18.0 } else { 0.0 };
    let height = top + ROW * bars.len() as f64 + 4.0;
    let mut svg = open(description, height);
    for (index, bar) in bars.iter().enumerate() {
        let y = top + ROW * index as f64 + (ROW - BAR) / 2.0;
        let middle = y + BAR / 2.0;
        let _ = write!(
            svg,
            r#"<text class="label" x="{:.1}" y="{middle:.1}" text-anchor="end">{}</text>"#,
            LABELS - 8.0,
            escaped(&bar.label)
        );
        let mut x = LABELS;
        for segment in bar.segments.iter().filter(|segment| segment.value > 0) {
            let width = segment.value as f64 * scale;
            let _ = write!(
                svg,
                r#"<rect class="{}" x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{BAR:.1}"><title>{}: {} {}</title></rect>"#,
                segment.class,
                escaped(&bar.label),
                human_count(segment.value),
                segment.meaning
            );
            x += width;
        }
        let _ =
            write!(svg, r#"<text class="value" x="{:.1}" y="{middle:.1}">{}</text>"#, x + 6.0, human_count(bar.shown));
    }
    if let Some((value, text)) = mark {
        let x = LABELS + value * scale;
        let _ = write!(
            svg,
            r#"<line class="mark" x1="{x:.1}" x2="{x:.1}" y1="{top:.1}" y2="{height:.1}"/><text class="note" x="{x:.1}" y="9" text-anchor="middle">{}</text>"#,
            escaped(text)
        );
    }
    svg.push_str("</svg>");
    svg
}

/// Upright bars side by side, for counts over ranges.
#[expect(clippy::cast_precision_loss, reason = "counts of blocks, drawn in pixels")]
pub(super) fn histogram(description: &str, bins: &[(String, usize)]) -> String {
    const HEIGHT: f64 = 200.0;
    const TOP: f64 = 18.0;
    const BOTTOM: f64 = 24.0;
    let most = bins.iter().map(|(_, count)| *count).max().unwrap_or(0).max(1) as f64;
    let step = WIDTH / bins.len().max(1) as f64;
    let base = HEIGHT - BOTTOM;
    let mut svg = open(description, HEIGHT);
    for (index, (label, count)) in bins.iter().enumerate() {
        let height = *count as f64 / most * (base - TOP);
        let (x, middle) = (step * index as f64, step * (index as f64 + 0.5));
        let _ = write!(
            svg,
            concat!(
                r#"<rect class="fill-main" x="{:.1}" y="{:.1}" width="{:.1}" height="{:.1}"><title>{}: {}</title></rect>"#,
                r#"<text class="value" x="{:.1}" y="{:.1}" text-anchor="middle">{}</text>"#,
                r#"<text class="label" x="{:.1}" y="{:.1}" text-anchor="middle">{}</text>"#
            ),
            x + 4.0,
            base - height,
            step - 8.0,
            height,
            escaped(label),
            human_count(*count),
            middle,
            base - height - 8.0,
            human_count(*count),
            middle,
            base + 14.0,
            escaped(label)
        );
    }
    let _ = write!(svg, r#"<line class="axis" x1="0" x2="{WIDTH}" y1="{base}" y2="{base}"/></svg>"#);
    svg
}

/// A curve for each series, over the same steps along the axis, from 0 to `most`. Its name stands at its end.
#[expect(clippy::cast_precision_loss, reason = "counts of blocks, drawn in pixels")]
pub(super) fn curves(description: &str, steps: &[String], series: &[(String, Vec<usize>)], most: usize) -> String {
    const HEIGHT: f64 = 320.0;
    const TOP: f64 = 18.0;
    const BOTTOM: f64 = 24.0;
    const NAMES: f64 = 130.0;
    let base = HEIGHT - BOTTOM;
    let room = WIDTH - VALUES - NAMES;
    let x = |step: usize| VALUES + room * step as f64 / (steps.len().max(2) - 1) as f64;
    let y = |count: usize| base - (base - TOP) * count as f64 / most.max(1) as f64;
    let mut svg = open(description, HEIGHT);
    let _ = write!(svg, r#"<line class="axis" x1="{VALUES}" x2="{:.1}" y1="{base}" y2="{base}"/>"#, VALUES + room);
    for (count, at) in [(0, base), (most, TOP)] {
        let right = VALUES - 8.0;
        let _ =
            write!(svg, r#"<text class="value" x="{right}" y="{at}" text-anchor="end">{}</text>"#, human_count(count));
    }
    for (step, label) in steps.iter().enumerate() {
        let (at, below) = (x(step), base + 14.0);
        let label = escaped(label);
        let _ = write!(svg, r#"<text class="label" x="{at:.1}" y="{below}" text-anchor="middle">{label}</text>"#);
    }
    // Names that would stand on each other are moved apart.
    let mut taken = f64::NEG_INFINITY;
    let mut by_end: Vec<&(String, Vec<usize>)> = series.iter().filter(|(_, counts)| !counts.is_empty()).collect();
    by_end.sort_by_key(|(_, counts)| std::cmp::Reverse(counts.last().copied()));
    for (name, counts) in by_end {
        let points: Vec<String> =
            counts.iter().enumerate().map(|(step, count)| format!("{:.1},{:.1}", x(step), y(*count))).collect();
        let _ = write!(svg, r#"<polyline class="line" points="{}"/>"#, points.join(" "));
        for (step, count) in counts.iter().enumerate() {
            let (at, height) = (x(step), y(*count));
            let told = format!("{}: {}", escaped(name), human_count(*count));
            let _ = write!(
                svg,
                r#"<circle class="fill-main" cx="{at:.1}" cy="{height:.1}" r="3"><title>{told}</title></circle>"#
            );
        }
        let last = counts.len() - 1;
        taken = y(counts[last]).max(taken + 14.0);
        let (at, name) = (x(last) + 10.0, escaped(name));
        let _ = write!(svg, r#"<text class="label" x="{at:.1}" y="{taken:.1}">{name}</text>"#);
    }
    svg.push_str("</svg>");
    svg
}

/// What the colours of a chart mean.
pub(super) fn legend(entries: &[(&str, &str)]) -> String {
    let entry =
        |(class, meaning): &(&str, &str)| format!(r#"<span><i class="{class}"></i>{}</span>"#, escaped(meaning));
    format!(r#"<p class="legend">{}</p>"#, entries.iter().map(entry).collect::<String>())
}

fn open(description: &str, height: f64) -> String {
    format!(r#"<svg viewBox="0 0 {WIDTH} {height:.0}" role="img" aria-label="{}">"#, escaped(description))
}

/// Text that is safe inside HTML elements and quoted attributes.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            character => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_end_within_the_picture_and_names_cannot_break_out() {
        let svg =
            horizontal_bars("a <b>", &[Bar::single("x\"><script>", 10), Bar::single("y", 0)], Some((5.0, "mean 5")));
        assert!(!svg.contains("<script>"), "{svg}");
        assert!(svg.contains(r#"width="480.0""#), "the longest bar takes the room that there is: {svg}");
        assert!(svg.ends_with("</svg>"));
    }

    #[test]
    fn curves_go_from_nothing_to_all() {
        let steps = ["0.8", "0.9"].map(str::to_owned);
        let svg = curves("kept", &steps, &[("<all>".to_owned(), vec![0, 10]), ("half".to_owned(), vec![5, 9])], 10);
        assert!(svg.contains(r#"points="70.0,296.0 590.0,18.0""#), "{svg}");
        assert!(svg.contains("&lt;all&gt;") && svg.contains(r#"y="45.8">half"#), "{svg}");
    }

    #[test]
    fn nothing_can_be_drawn_too() {
        assert!(horizontal_bars("nothing", &[], None).contains("svg"));
        assert!(histogram("nothing", &[]).contains("svg"));
        assert!(curves("nothing", &[], &[("no points".to_owned(), Vec::new())], 0).ends_with("</svg>"));
    }
}
