//! Proportions with their uncertainty.

use serde::{Deserialize, Serialize};

/// `successes` of `trials`, with the Wilson score interval at 95%.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Proportion {
    pub successes: usize,
    pub trials: usize,
    /// In [0, 1]; `None` where there were no trials.
    pub rate: Option<f64>,
    pub low: Option<f64>,
    pub high: Option<f64>,
}

/// The 97.5th percentile of the standard normal distribution.
const Z: f64 = 1.959_963_984_540_054;

impl Proportion {
    /// After E. B. Wilson, "Probable inference, the law of succession, and statistical inference", 1927.
    #[expect(clippy::cast_precision_loss, reason = "counts of blocks are far below 2^52")]
    pub fn of(successes: usize, trials: usize) -> Self {
        assert!(successes <= trials, "no more successes than trials");
        if trials == 0 {
            return Self { successes, trials, rate: None, low: None, high: None };
        }
        let number = trials as f64;
        let rate = successes as f64 / number;
        let denominator = 1.0 + Z * Z / number;
        let centre = (rate + Z * Z / (2.0 * number)) / denominator;
        let margin = Z * (rate * (1.0 - rate) / number + Z * Z / (4.0 * number * number)).sqrt() / denominator;
        let low = if successes == 0 { 0.0 } else { (centre - margin).max(0.0) };
        let high = if successes == trials { 1.0 } else { (centre + margin).min(1.0) };
        Self { successes, trials, rate: Some(rate), low: Some(low), high: Some(high) }
    }
}

#[cfg(test)]
mod tests {
    use super::Proportion;

    /// Calculated apart from this code, in Python.
    #[test]
    fn intervals_agree_with_the_formula_elsewhere() {
        for (successes, trials, low, high) in [
            (930, 1287, 0.697_516, 0.746_381),
            (941, 1289, 0.705_131, 0.753_549),
            (1, 2, 0.094_531, 0.905_469),
            (0, 10, 0.0, 0.277_533),
        ] {
            let proportion = Proportion::of(successes, trials);
            assert!((proportion.low.unwrap() - low).abs() < 1e-6, "{proportion:?}");
            assert!((proportion.high.unwrap() - high).abs() < 1e-6, "{proportion:?}");
        }
    }

    #[test]
    fn nothing_tried_has_no_rate() {
        assert_eq!(Proportion::of(0, 0).rate, None);
    }
}
