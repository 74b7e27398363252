//! What a child told of a model: what it is made of, and what comes out of it. Two that are told by the same code, in
//! processes of their own, are compared here.

use std::collections::BTreeMap;

use netquarry_core::structure::{Structure, Trials};

use super::protocol::{Event, Exception, Leaf, Section};
use super::scrub::Places;

/// What a child told.
#[derive(Clone, Debug, Default)]
pub(super) struct Observation {
    /// The entries of the state dictionary, before any pass in training mode.
    pub(super) state: Vec<Leaf>,
    /// The parts of the output in evaluation mode; none where there was no forward pass.
    pub(super) output: Vec<Leaf>,
    /// The parts of the output in training mode.
    pub(super) training: Vec<Leaf>,
    /// The entries of the state dictionary after the pass in training mode.
    pub(super) trained_state: Vec<Leaf>,
    /// What an exported graph gives as its output: the same values as `output`, without what they are in.
    pub(super) flat: Vec<Leaf>,
    /// Of the file that upstream's module was imported from.
    pub(super) module_sha1: Option<String>,
    /// Operations of a forward pass, as far as torch counts them.
    pub(super) flops: Option<u64>,
    /// Of an exported graph.
    pub(super) operators: Option<u64>,
    /// What the instance is made of.
    pub(super) structure: Structure,
    /// What it gives for other inputs.
    pub(super) trials: Trials,
    pub(super) stopped: Option<Stopped>,
    /// Of the leaf that was asked for.
    pub(super) values: Vec<f64>,
    pub(super) finished: bool,
}

/// A step that raised.
#[derive(Clone, Debug)]
pub(super) struct Stopped {
    pub(super) step: String,
    pub(super) exception: Exception,
}

impl Observation {
    /// What these events tell, without the `places` of files, which differ between two processes.
    pub(super) fn of(events: &[Event], places: &Places) -> Self {
        let mut observation = Self::default();
        for event in events {
            match event {
                Event::Imported { sha1 } => observation.module_sha1.clone_from(sha1),
                Event::Leaves { section, leaves } => {
                    let leaf = |leaf: &Leaf| Leaf { what: places.scrub(&leaf.what), ..leaf.clone() };
                    observation.section(*section).extend(leaves.iter().map(leaf));
                }
                Event::Values { values } => observation.values.extend(doubles(values)),
                Event::Stopped { step, exception } => {
                    let exception = exception.clone().without_places(places);
                    observation.stopped = Some(Stopped { step: step.clone(), exception });
                }
                Event::Counted { flops } => observation.flops = *flops,
                Event::Read { operators } => observation.operators = Some(*operators),
                Event::Structure { state, submodules } => {
                    observation.structure.state.extend(state.iter().cloned());
                    observation.structure.submodules.extend(submodules.iter().cloned());
                }
                Event::Layers { calls } => observation.structure.calls.extend(calls.iter().cloned()),
                Event::Trial(trial) => observation.trials.sizes.push(trial.clone()),
                Event::Independence { independent } => observation.trials.batch_independent = Some(*independent),
                Event::Dtype(trial) => observation.trials.dtypes.push(trial.clone()),
                Event::Device { works } => observation.trials.other_device = Some(*works),
                Event::Done => observation.finished = true,
                Event::Confined { .. }
                | Event::Harness { .. }
                | Event::Passed { .. }
                | Event::Failed { .. }
                | Event::Answers { .. }
                | Event::Harvested { .. }
                | Event::Ready
                | Event::Short
                | Event::Inapplicable { .. }
                | Event::Constructing { .. }
                | Event::Undecided { .. }
                | Event::Tainted { .. } => {}
            }
        }
        observation
    }

    /// Of a module that is known to raise this when it is imported.
    pub(super) fn not_imported(exception: Exception) -> Self {
        let stopped = Some(Stopped { step: "import".to_owned(), exception });
        Self { stopped, finished: true, ..Self::default() }
    }

    /// An observation of all that was asked for; otherwise, in words, why there is none.
    pub(super) fn whole(self) -> Result<Self, String> {
        match &self.stopped {
            Some(Stopped { step, exception }) => {
                let text = exception.message.lines().next().unwrap_or_default();
                Err(format!("{step}: {}: {text}", exception.class))
            }
            None if self.finished => Ok(self),
            None => Err(unfinished("it ended before it had told everything")),
        }
    }

    fn section(&mut self, section: Section) -> &mut Vec<Leaf> {
        match section {
            Section::State => &mut self.state,
            Section::Output => &mut self.output,
            Section::Training => &mut self.training,
            Section::TrainedState => &mut self.trained_state,
            Section::Flat => &mut self.flat,
        }
    }

    /// The same but for the values, which are told of one leaf only.
    pub(super) fn equals(&self, other: &Self) -> bool {
        first_difference(self, other).is_none() && self.stopped_at() == other.stopped_at()
    }

    pub(super) fn stopped_at(&self) -> Option<(&str, &str)> {
        self.stopped.as_ref().map(|stopped| (stopped.step.as_str(), stopped.exception.class.as_str()))
    }
}

/// Why a process told nothing that did not live to say so.
pub(super) fn unfinished(reason: &str) -> String {
    format!("no_answer: {reason}")
}

/// Doubles in hexadecimal, as they lie in memory. What is none ends the list.
fn doubles(text: &str) -> impl Iterator<Item = f64> {
    let number = |digits: &[u8]| {
        let bits = std::str::from_utf8(digits).ok().and_then(|digits| u64::from_str_radix(digits, 16).ok())?;
        // The digits are those of the bytes in their order.
        Some(f64::from_ne_bytes(bits.to_be_bytes()))
    };
    text.as_bytes().chunks_exact(16).map_while(number)
}

/// The first place at which two observations differ.
#[derive(Debug, PartialEq)]
pub(super) struct Difference<'a> {
    section: &'static str,
    kind: Kind<'a>,
}

#[derive(Debug, PartialEq)]
enum Kind<'a> {
    /// The left has it and the right has not.
    OnlyLeft(&'a Leaf),
    OnlyRight(&'a Leaf),
    /// The same names, in another order.
    Order(&'a Leaf),
    What(&'a Leaf, &'a Leaf),
    Values(&'a Leaf),
}

/// Where two observations of the same steps differ; what is told only on request is not looked at.
pub(super) fn first_difference<'a>(left: &'a Observation, right: &'a Observation) -> Option<Difference<'a>> {
    let sections = [
        ("state", &left.state, &right.state),
        ("output", &left.output, &right.output),
        ("training", &left.training, &right.training),
        ("trained state", &left.trained_state, &right.trained_state),
    ];
    sections.into_iter().find_map(|(section, left, right)| Some(Difference { section, kind: differ(left, right)? }))
}

fn differ<'a>(left: &'a [Leaf], right: &'a [Leaf]) -> Option<Kind<'a>> {
    let by_name = |leaves: &'a [Leaf]| -> BTreeMap<&'a str, &'a Leaf> {
        leaves.iter().map(|leaf| (leaf.name.as_str(), leaf)).collect()
    };
    let (left_names, right_names) = (by_name(left), by_name(right));
    if let Some(leaf) = left.iter().find(|leaf| !right_names.contains_key(leaf.name.as_str())) {
        return Some(Kind::OnlyLeft(leaf));
    }
    if let Some(leaf) = right.iter().find(|leaf| !left_names.contains_key(leaf.name.as_str())) {
        return Some(Kind::OnlyRight(leaf));
    }
    let pairs = || left.iter().zip(right);
    if let Some((leaf, _)) = pairs().find(|(left, right)| left.name != right.name) {
        return Some(Kind::Order(leaf));
    }
    if let Some((left, right)) = pairs().find(|(left, right)| left.what != right.what) {
        return Some(Kind::What(left, right));
    }
    let (leaf, _) = pairs().find(|(left, right)| left.digest != right.digest)?;
    Some(Kind::Values(leaf))
}

impl<'a> Difference<'a> {
    /// Of which leaf the values would tell more.
    pub(super) fn values_of(&self) -> Option<(&'a str, &'a str)> {
        match self.kind {
            Kind::Values(leaf) => Some((self.section, &leaf.name)),
            Kind::OnlyLeft(_) | Kind::OnlyRight(_) | Kind::Order(_) | Kind::What(..) => None,
        }
    }

    fn leaf(&self) -> &'a Leaf {
        match self.kind {
            Kind::OnlyLeft(leaf) | Kind::OnlyRight(leaf) | Kind::Order(leaf) | Kind::What(leaf, _) => leaf,
            Kind::Values(leaf) => leaf,
        }
    }

    /// `in state conv.weight`
    pub(super) fn place(&self) -> String {
        format!("in {} {}", self.section, shown(&self.leaf().name))
    }

    /// In a sentence; the left is the bundle.
    pub(super) fn told(&self, bundle: &[f64], upstream: &[f64]) -> String {
        let (section, name) = (self.section, shown(&self.leaf().name));
        match self.kind {
            Kind::OnlyLeft(leaf) => format!("{section} {name}: the bundle has it ({}), upstream has not", leaf.what),
            Kind::OnlyRight(leaf) => format!("{section} {name}: upstream has it ({}), the bundle has not", leaf.what),
            Kind::Order(_) => format!("{section} {name}: it stands in another place than upstream"),
            Kind::What(left, right) => format!("{section} {name}: it is {}, upstream it is {}", left.what, right.what),
            Kind::Values(leaf) => format!("{section} {name} ({}): {}", leaf.what, distance(bundle, upstream)),
        }
    }
}

/// A whole output has no name.
fn shown(name: &str) -> String {
    if name.is_empty() { "as a whole".to_owned() } else { format!("`{name}`") }
}

fn distance(left: &[f64], right: &[f64]) -> String {
    let pairs = || left.iter().zip(right);
    let differing = pairs().filter(|(left, right)| left != right && !(left.is_nan() && right.is_nan())).count();
    let largest = pairs().map(|(left, right)| (left - right).abs()).filter(|it| !it.is_nan()).fold(0.0, f64::max);
    let count = left.len().min(right.len());
    if differing == 0 {
        return "the bytes differ, and no value that was looked at does".to_owned();
    }
    format!("{differing} of {count} values differ, at most by {largest:e}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaf(name: &str, what: &str, digest: &str) -> Leaf {
        Leaf { name: name.into(), what: what.into(), digest: Some(digest.into()), raised: false }
    }

    fn observation(state: &[Leaf], output: &[Leaf]) -> Observation {
        Observation { state: state.to_vec(), output: output.to_vec(), finished: true, ..Observation::default() }
    }

    #[test]
    fn what_differs_first_is_told() {
        let (a, b) = (leaf("a", "float32 [2]", "00"), leaf("b", "float32 [2]", "01"));
        let cases = [
            (
                vec![a.clone(), b.clone()],
                vec![a.clone()],
                "state `b`: the bundle has it (float32 [2]), upstream has not",
            ),
            (
                vec![a.clone()],
                vec![a.clone(), b.clone()],
                "state `b`: upstream has it (float32 [2]), the bundle has not",
            ),
            (vec![a.clone(), b.clone()], vec![b, a.clone()], "state `a`: it stands in another place than upstream"),
            (
                vec![a.clone()],
                vec![leaf("a", "int64 []", "00")],
                "state `a`: it is float32 [2], upstream it is int64 []",
            ),
            (
                vec![a],
                vec![leaf("a", "float32 [2]", "02")],
                "state `a` (float32 [2]): 1 of 2 values differ, at most by 5e-1",
            ),
        ];
        for (bundle, upstream, told) in cases {
            let (bundle, upstream) = (observation(&bundle, &[]), observation(&upstream, &[]));
            let difference = first_difference(&bundle, &upstream).expect("they differ");
            assert_eq!(difference.told(&[1.0, f64::NAN], &[0.5, f64::NAN]), told);
        }
    }

    #[test]
    fn values_travel_as_they_lie_in_memory() {
        let values = [1.5, -0.0, f64::INFINITY];
        let text: String =
            values.iter().flat_map(|value: &f64| value.to_ne_bytes()).map(|it| format!("{it:02x}")).collect();
        assert_eq!(doubles(&text).collect::<Vec<_>>(), values);
        assert_eq!(doubles("not hexadecimal!").count(), 0);
        assert_eq!(doubles("é0000000000000000").count(), 0);
    }
}
