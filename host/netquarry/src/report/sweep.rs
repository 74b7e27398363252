//! The page about thresholds.

use super::figures::curves;
use super::parts::{document, figure};
use crate::curation::SweepPoint;
use crate::quantity::human_things;

/// How many of `total` models stay at each pair of thresholds. `title` says what was deduplicated, and `preset` how.
pub fn html_of_sweep(title: &str, preset: &str, total: usize, points: &[SweepPoint]) -> String {
    let drawn = curves("Models that stay, by thresholds", &steps(points), &series(points), total);
    let mut body = String::new();
    let below = "<p>Along the axis the threshold of dedup-lexical, at each curve that of dedup-structural. What the \
                 bands of MinHash signatures do not bring together is not compared at any threshold.</p>\n";
    figure(&mut body, "Models that stay", &drawn, below);
    document(title, &format!("{} deduplicated by the preset {preset}", human_things(total, "model")), &body)
}

fn steps(points: &[SweepPoint]) -> Vec<String> {
    let mut steps = Vec::new();
    for step in points.iter().map(|point| label("", point.lexical)) {
        if !steps.contains(&step) {
            steps.push(step);
        }
    }
    steps
}

/// By the structural threshold.
fn series(points: &[SweepPoint]) -> Vec<(String, Vec<usize>)> {
    let mut series: Vec<(String, Vec<usize>)> = Vec::new();
    for point in points {
        let name = label("structural ", point.structural);
        match series.iter_mut().find(|(known, _)| *known == name) {
            Some((_, counts)) => counts.push(point.kept),
            None => series.push((name, vec![point.kept])),
        }
    }
    series
}

fn label(what: &str, threshold: Option<f64>) -> String {
    threshold.map(|threshold| format!("{what}{threshold:.2}")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_has_the_points_of_its_threshold() {
        let point = |lexical, structural, kept| SweepPoint { lexical: Some(lexical), structural, kept };
        let points = [(0.8, 0.9, 3), (0.8, 1.0, 4), (0.9, 0.9, 5), (0.9, 1.0, 6)];
        let points = points.map(|(lexical, structural, kept)| point(lexical, Some(structural), kept));
        assert_eq!(steps(&points), ["0.80", "0.90"]);
        assert_eq!(
            series(&points),
            [("structural 0.90".to_owned(), vec![3, 5]), ("structural 1.00".to_owned(), vec![4, 6])]
        );
        let alone = [point(0.8, None, 1), point(0.9, None, 2)];
        assert_eq!(series(&alone), [(String::new(), vec![1, 2])]);
    }
}
