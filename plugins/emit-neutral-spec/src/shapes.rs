//! How the shapes of outputs follow from those of inputs, as far as trials show it.

use std::collections::BTreeMap;

use netquarry_sdk::emit::Tensor;
use schemars::JsonSchema;
use serde::Serialize;

use crate::manifest::{AxisSize, SizeTrial};

/// By more than this nothing shrinks in one block.
const LARGEST_DIVISOR: u64 = 64;

/// Inputs whose sizes were changed together, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VariedAxes {
    /// `batch`, `grid`, `axis` or `axes`.
    pub varied: String,
    pub axes: Vec<Axis>,
    /// Sizes of these axes with which a forward pass ran, the recorded ones first.
    pub works: Vec<Vec<u64>>,
    /// With which it raised.
    pub fails: Vec<Vec<u64>>,
}

/// An axis of an input.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Axis {
    pub input: String,
    pub axis: usize,
}

/// An axis of an output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OutputAxis {
    /// In the recorded pass.
    pub size: u64,
    /// What it follows, in each trial as the rule says.
    pub follows: Vec<Rule>,
    /// It changed in a trial in which no rule tells why; otherwise it stays what it is, but for what it follows.
    pub unexplained: bool,
}

/// The size of an output's axis is `times` that of the input's axis, divided by `divided_by`, plus `plus`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Rule {
    #[serde(flatten)]
    pub of: Axis,
    pub times: u64,
    pub divided_by: u64,
    /// `up` or `down`; none where every size that was tried can be divided.
    pub rounded: Option<Rounding>,
    pub plus: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Rounding {
    Up,
    Down,
}

/// What was tried, in the order in which it was.
pub(crate) fn varied(inputs: &[Tensor], trials: &[SizeTrial]) -> Vec<VariedAxes> {
    let mut all: Vec<VariedAxes> = Vec::new();
    for trial in trials {
        let axes: Vec<Axis> = trial.axes.iter().map(Axis::of).collect();
        let sizes = trial.axes.iter().map(|axis| axis.size).collect();
        let place = all.iter().position(|other| other.varied == trial.varied && other.axes == axes);
        let place = place.unwrap_or_else(|| {
            let recorded = axes.iter().filter_map(|axis| axis.size_in(inputs)).collect();
            let varied = trial.varied.clone();
            all.push(VariedAxes { varied, axes, works: vec![recorded], fails: Vec::new() });
            all.len() - 1
        });
        let results = if trial.outputs.is_some() { &mut all[place].works } else { &mut all[place].fails };
        results.push(sizes);
    }
    all
}

/// The axes of an output.
pub(crate) fn output_axes(inputs: &[Tensor], place: usize, output: &Tensor, trials: &[SizeTrial]) -> Vec<OutputAxis> {
    let shapes = trials.iter().filter_map(|trial| Some((trial, trial.outputs.as_ref()?.get(place)?)));
    let shapes: Vec<(&SizeTrial, &Vec<u64>)> = shapes.filter(|(_, shape)| shape.len() == output.shape.len()).collect();
    let axis = |(axis, size): (usize, &u64)| {
        let results: Vec<(&SizeTrial, u64)> = shapes.iter().map(|(trial, shape)| (*trial, shape[axis])).collect();
        output_axis(inputs, axis, *size, &results)
    };
    output.shape.iter().enumerate().map(axis).collect()
}

/// One axis of an output, of which `results` has the size after each trial.
fn output_axis(inputs: &[Tensor], axis: usize, recorded: u64, results: &[(&SizeTrial, u64)]) -> OutputAxis {
    let mut points: BTreeMap<Axis, Vec<(u64, u64)>> = BTreeMap::new();
    for (trial, size) in results {
        if let Some(varied) = followed(&trial.axes, axis) {
            points.entry(Axis::of(varied)).or_default().push((varied.size, *size));
        }
    }
    let rule = |(of, mut points): (Axis, Vec<(u64, u64)>)| {
        points.push((of.size_in(inputs)?, recorded));
        fitting(of, &points)
    };
    let follows: Vec<Rule> = points.into_iter().filter_map(rule).collect();
    let is_explained = |trial: &SizeTrial| {
        followed(&trial.axes, axis).is_some_and(|varied| follows.iter().any(|rule| rule.of == Axis::of(varied)))
    };
    let unexplained = results.iter().any(|(trial, size)| *size != recorded && !is_explained(trial));
    OutputAxis { size: recorded, follows, unexplained }
}

/// Which of the axes that were changed together an output's axis can be said to follow: the only one, or the one of the
/// first input that is in the same place.
fn followed(varied: &[AxisSize], axis: usize) -> Option<&AxisSize> {
    match varied {
        [only] => Some(only),
        [first, ..] => varied.iter().find(|other| other.input == first.input && other.axis == axis),
        [] => None,
    }
}

/// The simplest rule through all points; none where the output does not change, or as no rule says.
fn fitting(of: Axis, points: &[(u64, u64)]) -> Option<Rule> {
    let (size, result) = *points.last()?;
    if points.iter().all(|point| point.1 == result) {
        return None;
    }
    let rule = |times, divided_by, rounded, plus| Rule { of: of.clone(), times, divided_by, rounded, plus };
    let proportional = size > 0
        && points.iter().all(|(from, to)| {
            let products = from.checked_mul(result).zip(to.checked_mul(size));
            products.is_some_and(|(left, right)| left == right)
        });
    if proportional {
        let shared = greatest_common_divisor(result, size);
        return Some(rule(result / shared, size / shared, None, 0));
    }
    let divided = (2..=LARGEST_DIVISOR).find_map(|by| {
        let up = points.iter().all(|(from, to)| from.div_ceil(by) == *to).then_some(Rounding::Up);
        let rounded = up.or_else(|| points.iter().all(|(from, to)| from / by == *to).then_some(Rounding::Down))?;
        Some(rule(1, by, Some(rounded), 0))
    });
    divided.or_else(|| {
        let signed = |value: u64| i64::try_from(value).ok();
        let plus = signed(result)?.checked_sub(signed(size)?)?;
        let is_shifted =
            points.iter().all(|(from, to)| signed(*from).zip(signed(*to)).is_some_and(|(from, to)| to - from == plus));
        is_shifted.then(|| rule(1, 1, None, plus))
    })
}

fn greatest_common_divisor(left: u64, right: u64) -> u64 {
    if right == 0 { left } else { greatest_common_divisor(right, left % right) }
}

impl Axis {
    fn of(varied: &AxisSize) -> Self {
        Self { input: varied.input.clone(), axis: varied.axis }
    }

    fn size_in(&self, inputs: &[Tensor]) -> Option<u64> {
        inputs.iter().find(|input| input.name == self.input)?.shape.get(self.axis).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(varied: &str, axes: &[(usize, u64)], outputs: Option<&[u64]>) -> SizeTrial {
        let axes = axes.iter().map(|(axis, size)| AxisSize { input: "x".to_owned(), axis: *axis, size: *size });
        SizeTrial {
            varied: varied.to_owned(),
            axes: axes.collect(),
            outputs: outputs.map(|shape| vec![shape.to_vec()]),
        }
    }

    #[test]
    fn outputs_follow_inputs_by_rules() {
        let tensor =
            |shape: &[u64]| Tensor { name: "x".to_owned(), shape: shape.to_vec(), dtype: "float32".to_owned() };
        let inputs = [tensor(&[2, 3, 64, 32])];
        let output = tensor(&[2, 10, 32, 34]);
        let trials = [
            trial("batch", &[(0, 1)], Some(&[1, 10, 32, 34])),
            trial("batch", &[(0, 3)], Some(&[3, 10, 32, 34])),
            trial("grid", &[(2, 128), (3, 64)], Some(&[2, 10, 64, 66])),
            trial("grid", &[(2, 65), (3, 33)], Some(&[2, 10, 33, 35])),
            trial("axis", &[(1, 6)], None),
        ];
        let axes = output_axes(&inputs, 0, &output, &trials);
        let rule = |axis, times, divided_by, rounded, plus| Rule {
            of: Axis { input: "x".to_owned(), axis },
            times,
            divided_by,
            rounded,
            plus,
        };
        assert_eq!(axes[0].follows, [rule(0, 1, 1, None, 0)]);
        assert_eq!(axes[1].follows, []);
        assert!(axes.iter().all(|axis| !axis.unexplained));
        assert_eq!(axes[2].follows, [rule(2, 1, 2, Some(Rounding::Up), 0)]);
        assert_eq!(axes[3].follows, [rule(3, 1, 1, None, 2)]);
        let varied = varied(&inputs, &trials);
        assert_eq!(varied[1].works, [[64, 32], [128, 64], [65, 33]]);
        assert_eq!((&varied[2].works, &varied[2].fails), (&vec![vec![3]], &vec![vec![6]]));
    }

    #[test]
    fn what_no_rule_explains_is_said_to_be_so() {
        let inputs = [Tensor { name: "x".to_owned(), shape: vec![4, 9], dtype: "float32".to_owned() }];
        let output = Tensor { name: "0".to_owned(), shape: vec![4, 3], dtype: "float32".to_owned() };
        let trials = [trial("axis", &[(1, 16)], Some(&[4, 7])), trial("axis", &[(1, 10)], Some(&[4, 3]))];
        let axes = output_axes(&inputs, 0, &output, &trials);
        assert_eq!(axes.iter().map(|axis| axis.unexplained).collect::<Vec<_>>(), [false, true]);
    }

    #[test]
    fn what_follows_no_rule_is_not_said_to() {
        let of = || Axis { input: "x".to_owned(), axis: 0 };
        assert_eq!(fitting(of(), &[(4, 7), (5, 9), (2, 2)]), None);
        assert_eq!(fitting(of(), &[(4, 4), (2, 4)]), None);
        let half = fitting(of(), &[(8, 4), (4, 2)]).expect("a half of it");
        assert_eq!((half.times, half.divided_by, half.rounded), (1, 2, None));
    }
}
