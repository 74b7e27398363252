//! The highest level: whether the bundle's class and upstream's, with the same seed and arguments, are the same.
//!
//! Both are replayed by the same code in processes of their own and tell what they are made of and what they give
//! ([`Observation`]); the comparison is made here. Two that differ are replayed once more, so that a block that differs
//! from itself is not taken for one that differs from upstream.

use netquarry_core::verdict::{FailureClass, Level, Outcome, PARITY_UNKNOWN, ParityEvidence, Verdict};

use super::Upstream;
use super::observation::{Observation, Stopped, first_difference};
use super::protocol::{Exception, Replay, UpstreamClass};

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
        let Upstream { module, class_name, state, .. } = self.upstream;
        let class = UpstreamClass { module, class_name, state: state.as_deref() };
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
            upstream_state: self.upstream.state.clone(),
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
