//! The highest level: whether the bundle's class and upstream's, with the same seed and arguments, are the same.
//!
//! Both are replayed by the same code in processes of their own and tell what they are made of and what they give
//! ([`Observation`]); the comparison is made here. Two that differ are replayed once more, so that a block that differs
//! from itself is not taken for one that differs from upstream.

use std::collections::BTreeMap;

use netquarry_core::verdict::{FailureClass, Level, Outcome, PARITY_UNKNOWN, ParityEvidence, Verdict};

use super::Upstream;
use super::protocol::{Event, Exception, Leaf, Replay, UpstreamClass};
use super::scrub::Places;

/// Which of the two classes is replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Bundle,
    Upstream,
}

impl Side {
    fn name(self) -> &'static str {
        match self {
            Self::Bundle => "the bundle",
            Self::Upstream => "upstream",
        }
    }
}

/// What a replay told.
#[derive(Clone, Debug, Default)]
pub(super) struct Observation {
    /// The entries of the state dictionary after construction.
    state: Vec<Leaf>,
    /// The parts of the output in evaluation mode; none where there was no forward pass.
    output: Vec<Leaf>,
    /// The parts of the output in training mode.
    training: Vec<Leaf>,
    /// The entries of the state dictionary after the pass in training mode.
    trained_state: Vec<Leaf>,
    /// Of the file that upstream's module was imported from.
    module_sha1: Option<String>,
    stopped: Option<Stopped>,
    values: Vec<f64>,
    finished: bool,
}

#[derive(Clone, Debug)]
struct Stopped {
    step: String,
    exception: Exception,
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
                    observation.section(section).extend(leaves.iter().map(leaf));
                }
                Event::Values { values } => observation.values.extend(doubles(values)),
                Event::Stopped { step, exception } => {
                    let exception = exception.clone().without_places(places);
                    observation.stopped = Some(Stopped { step: step.clone(), exception });
                }
                Event::Done => observation.finished = true,
                Event::Confined { .. }
                | Event::Harness { .. }
                | Event::Passed { .. }
                | Event::Failed { .. }
                | Event::Answers { .. }
                | Event::Harvested { .. }
                | Event::Short
                | Event::Inapplicable { .. }
                | Event::Undecided { .. } => {}
            }
        }
        observation
    }

    /// Of a module that is known to raise this when it is imported.
    pub(super) fn not_imported(exception: Exception) -> Self {
        let stopped = Some(Stopped { step: "import".to_owned(), exception });
        Self { stopped, finished: true, ..Self::default() }
    }

    fn section(&mut self, name: &str) -> &mut Vec<Leaf> {
        match name {
            "state" => &mut self.state,
            "training" => &mut self.training,
            "trained state" => &mut self.trained_state,
            _ => &mut self.output,
        }
    }

    /// The same but for the values, which are told of one leaf only.
    fn equals(&self, other: &Self) -> bool {
        first_difference(self, other).is_none() && self.stopped_at() == other.stopped_at()
    }

    fn stopped_at(&self) -> Option<(&str, &str)> {
        self.stopped.as_ref().map(|stopped| (stopped.step.as_str(), stopped.exception.class.as_str()))
    }
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

/// What the comparison came to.
#[derive(Debug, PartialEq)]
pub(super) enum Parity {
    Same(ParityEvidence),
    /// What differs first, in a sentence.
    Different(String),
    /// Why nothing can be said.
    Unknown(String),
}

impl Parity {
    /// There is nothing to compare with.
    pub(super) fn no_upstream() -> Self {
        Self::unknown("no_upstream", "there is no module that upstream's class could be imported from")
    }

    fn unknown(reason: &str, detail: impl std::fmt::Display) -> Self {
        Self::Unknown(format!("{reason}: {detail}"))
    }
}

/// How a replay is asked for.
pub(super) struct Question<'a> {
    pub(super) side: Side,
    pub(super) replay: Replay<'a>,
}

/// Replays one side: what was observed or, in words, why nothing came of it.
type Asking<'a, E> = dyn Fn(&Question<'_>) -> Result<Result<Observation, String>, E> + 'a;

/// Compares, given a way to replay, which answers with the reason where nothing came of it.
///
/// # Errors
/// Those of `ask`.
pub(super) fn compare<E>(upstream: &Upstream, verdict: &Verdict, ask: &Asking<'_, E>) -> Result<Parity, E> {
    let comparison = Comparison { upstream, verdict, ask };
    match comparison.compare() {
        Ok(parity) | Err(Stop::Parity(parity)) => Ok(parity),
        Err(Stop::Error(error)) => Err(error),
    }
}

/// The reason that upstream cannot be imported.
const NOT_IMPORTABLE: &str = "upstream_not_importable";

/// What importing upstream's module raised, `ModuleNotFoundError: No module named 'ftfy'`, where that is why a block was
/// not compared.
pub fn upstream_import_error(verdict: &Verdict) -> Option<&str> {
    verdict.evidence.parity_unknown()?.strip_prefix(NOT_IMPORTABLE)?.strip_prefix(": ")
}

/// Enters the result in the verdict.
pub(super) fn enter(verdict: &mut Verdict, parity: Parity) {
    match parity {
        Parity::Same(evidence) => {
            verdict.set(Level::Parity, Outcome::Passed);
            verdict.evidence.parity = Some(evidence);
        }
        Parity::Different(message) => {
            verdict.set(Level::Parity, Outcome::Failed);
            let class = FailureClass::ParityMismatch;
            let failure = netquarry_core::verdict::Failure { class, message, upstream: None, hint: None };
            verdict.failure.get_or_insert(failure);
        }
        Parity::Unknown(reason) => {
            verdict.evidence.notes.push(format!("{PARITY_UNKNOWN}: {reason}"));
            verdict.evidence.notes.sort();
        }
    }
}

enum Stop<E> {
    Parity(Parity),
    Error(E),
}

struct Comparison<'a, E> {
    upstream: &'a Upstream,
    verdict: &'a Verdict,
    ask: &'a Asking<'a, E>,
}

/// What is asked of both sides beside the arguments.
#[derive(Clone, Copy, Default)]
struct Extra<'a> {
    values_of: Option<(&'a str, &'a str)>,
    fill_memory: bool,
}

impl<E> Comparison<'_, E> {
    fn compare(&self) -> Result<Parity, Stop<E>> {
        let upstream = self.replay(Side::Upstream, Extra::default())?;
        if let Some(parity) = self.cannot_be_compared(&upstream) {
            return Ok(parity);
        }
        let bundle = self.replay(Side::Bundle, Extra::default())?;
        if bundle.equals(&upstream) {
            return Ok(self.same(&bundle));
        }
        self.explain(&bundle, &upstream)
    }

    fn replay(&self, side: Side, extra: Extra<'_>) -> Result<Observation, Stop<E>> {
        let evidence = &self.verdict.evidence;
        let ran_forward = self.verdict.outcome(Level::Forward) == Outcome::Passed;
        let class = UpstreamClass { module: &self.upstream.module, class_name: &self.upstream.class_name };
        let replay = Replay {
            upstream: (side == Side::Upstream).then_some(class),
            constructor: &evidence.constructor_arguments,
            forward: ran_forward.then_some(&evidence.forward_arguments),
            values_of: extra.values_of,
            fill_memory: extra.fill_memory,
        };
        let reason = match (self.ask)(&Question { side, replay }).map_err(Stop::Error)? {
            Ok(observation) if observation.finished => return Ok(observation),
            Ok(_) => "it ended before it had told everything".to_owned(),
            Err(reason) => reason,
        };
        Err(Stop::Parity(Parity::unknown("no_replay", format!("{}: {reason}", side.name()))))
    }

    /// Why upstream, as it is here, is nothing to compare with.
    fn cannot_be_compared(&self, upstream: &Observation) -> Option<Parity> {
        if let Some(Stopped { step, exception }) = &upstream.stopped {
            if exception.class == "UpstreamMissing" {
                return Some(Parity::unknown("upstream_missing", &exception.message));
            }
            if exception.class == "NotInScope" {
                return Some(Parity::unknown("arguments_not_upstream", &exception.message));
            }
            let is_import_error = |exception: &Exception| exception.is_a("ImportError");
            if step == "import" || is_import_error(exception) || exception.causes.iter().any(is_import_error) {
                let reason = format!("{}: {}", exception.class, exception.message);
                return Some(Parity::unknown(NOT_IMPORTABLE, reason));
            }
        }
        match &upstream.module_sha1 {
            Some(sha1) if *sha1 == self.upstream.sha1 => None,
            _ => {
                let module = &self.upstream.module;
                let detail = format!("`{module}` is imported from another file than the one that the bundle is from");
                Some(Parity::unknown("other_upstream", detail))
            }
        }
    }

    fn same(&self, observation: &Observation) -> Parity {
        if let Some(Stopped { step, exception }) = &observation.stopped {
            let detail = format!("both raise {} in {step}: {}", exception.class, exception.message);
            return Parity::unknown("both_raise", detail);
        }
        if observation.output.is_empty() {
            let detail = format!(
                "{} entries of the state dictionary are equal, and there is no forward pass to compare",
                observation.state.len()
            );
            return Parity::unknown("state_only", detail);
        }
        Parity::Same(ParityEvidence {
            upstream: self.upstream.origin,
            state_entries: observation.state.len() as u64,
            output_parts: observation.output.len() as u64,
            training_parts: observation.training.len() as u64,
        })
    }

    /// The two differ: that may be chance, or memory that nobody has written to.
    fn explain(&self, bundle: &Observation, upstream: &Observation) -> Result<Parity, Stop<E>> {
        let difference = first_difference(bundle, upstream);
        let values_of = difference.as_ref().and_then(|difference| difference.values_of());
        let again = Extra { values_of, ..Extra::default() };
        let (bundle_again, upstream_again) = (self.replay(Side::Bundle, again)?, self.replay(Side::Upstream, again)?);
        // The bundle first: it is executed anew each time, while upstream may have been imported once for both replays.
        for (side, first, second) in
            [(Side::Bundle, bundle, &bundle_again), (Side::Upstream, upstream, &upstream_again)]
        {
            if !first.equals(second) {
                let place = first_difference(first, second).map_or("in how it ends".to_owned(), |it| it.place());
                let detail = format!("{} differs from itself {place}", side.name());
                return Ok(Parity::unknown("not_deterministic", detail));
            }
        }
        let filled = Extra { fill_memory: true, ..Extra::default() };
        let (filled_bundle, filled_upstream) =
            (self.replay(Side::Bundle, filled)?, self.replay(Side::Upstream, filled)?);
        // That both stop now where they did not before shows nothing.
        let is_whole = filled_bundle.stopped_at() == bundle.stopped_at();
        if is_whole && filled_bundle.equals(&filled_upstream) {
            return Ok(Parity::unknown("uninitialised_memory", "they differ in what nobody has written to"));
        }
        let difference = difference.filter(|_| bundle.stopped_at() == upstream.stopped_at());
        Ok(Parity::Different(match difference {
            Some(difference) => difference.told(&bundle_again.values, &upstream_again.values),
            None => format!("{}; {}", ends(Side::Upstream, upstream), ends(Side::Bundle, bundle)),
        }))
    }
}

fn ends(side: Side, observation: &Observation) -> String {
    match &observation.stopped {
        Some(Stopped { step, exception }) => {
            format!("{} raises {} in {step}: {}", side.name(), exception.class, exception.message)
        }
        None => format!("{} raises nothing", side.name()),
    }
}

/// The first place at which two replays differ.
#[derive(Debug, PartialEq)]
struct Difference<'a> {
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

fn first_difference<'a>(left: &'a Observation, right: &'a Observation) -> Option<Difference<'a>> {
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
    fn values_of(&self) -> Option<(&'a str, &'a str)> {
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
    fn place(&self) -> String {
        format!("in {} {}", self.section, shown(&self.leaf().name))
    }

    /// In a sentence; the left is the bundle.
    fn told(&self, bundle: &[f64], upstream: &[f64]) -> String {
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
        Leaf { name: name.into(), what: what.into(), digest: Some(digest.into()) }
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
