//! Stage 4: from every candidate to its closure.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use netquarry_core::closure::{Closure, Rules, close};
use rayon::prelude::*;

use super::context::Context;
use super::discover::Candidate;
use super::index::Indexed;
use crate::console::Task;
use crate::course::{Stage, StageCourse, Stopwatch};
use crate::interrupt;
use crate::problem::Problem;
use crate::quantity::{human_seconds, human_things};

/// What became of one candidate: a value, or the reason why there is none.
pub type Attempt<T> = Result<T, String>;

/// What came out of the stage.
pub struct Resolved {
    /// One for each candidate, in their order.
    pub closures: Vec<Attempt<Arc<Closure>>>,
    pub course: StageCourse,
}

/// Computes the closures of all candidates.
pub fn resolve(
    context: &Context<'_>,
    indexed: &Indexed,
    rules: &Rules,
    candidates: &[Candidate],
) -> Result<Resolved, Problem> {
    let task = context.console.task("Resolving", "blocks", candidates.len() as u64);
    let resolved = closures(context, indexed, rules, candidates, &task)?;
    task.finish("Resolved", &told(&resolved.course));
    Ok(resolved)
}

/// How many blocks were resolved and how long it took.
pub fn told(course: &StageCourse) -> String {
    format!("{} in {}", human_things(course.items, "block"), human_seconds(course.wall_seconds))
}

/// The closures of `candidates`, which may be a part of all those that `task` counts.
pub fn closures(
    context: &Context<'_>,
    indexed: &Indexed,
    rules: &Rules,
    candidates: &[Candidate],
    task: &Task<'_>,
) -> Result<Resolved, Problem> {
    let watch = Stopwatch::start(Stage::Resolve);
    let closure = |candidate: &Candidate| {
        let closure = guarded(|| close(&indexed.index, rules, candidate.target)).map(Arc::new);
        task.advance(1);
        closure
    };
    let unless_interrupted = |candidate| (!interrupt::requested()).then(|| closure(candidate));
    let closures = context.pool.install(|| candidates.par_iter().map(unless_interrupted).collect::<Option<_>>());
    let closures = closures.ok_or_else(Problem::interrupted)?;
    Ok(Resolved { closures, course: watch.stop("block", candidates.len(), 0) })
}

/// A defect of this program costs one block and not the run.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Attempt<T> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let message =
            panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
        format!("a defect of NetQuarry, please report it: {}", message.unwrap_or("it panicked"))
    })
}
