//! Asks CPython what names mean in upstream's own modules, to judge how they were resolved.

use serde::{Deserialize, Serialize};

use super::{Options, Upstream, ValidateError, pool};
use crate::environment::Environment;

/// A name in an upstream module, and the statement that it was resolved to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Lookup {
    /// The module in which the name stands.
    pub user: String,
    /// `drop_path`, `layers.drop.drop_path`
    pub reference: String,
    /// The module of the statement.
    pub module: String,
    /// Of the statement; 1-based, inclusive.
    pub lines: [u32; 2],
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    pub outcome: AnswerOutcome,
    /// What the name is, where that is something else; why nothing can be said, a word and a colon first.
    pub detail: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AnswerOutcome {
    /// The object that the statement binds.
    Same,
    Different,
    Unknown,
}

/// The lookups of one upstream module.
pub struct Questions {
    pub upstream: Upstream,
    pub lookups: Vec<Lookup>,
}

/// Answers to all questions, in their order. A process that does not answer costs its own module's lookups: they are
/// unknown.
///
/// # Errors
/// No worker can be started.
pub fn look_up(
    questions: &[Questions],
    environment: &Environment,
    options: &Options,
    on_answers: &(dyn Fn() + Sync),
) -> Result<Vec<Vec<Answer>>, ValidateError> {
    let answers = pool::look_up(questions, environment, options, on_answers)?;
    let all = questions.iter().zip(answers).map(|(questions, answers)| match answers {
        Ok(answers) if answers.len() == questions.lookups.len() => answers,
        Ok(_) => unknown(questions, "another number of answers than of questions"),
        Err(reason) => unknown(questions, &reason),
    });
    Ok(all.collect())
}

fn unknown(questions: &Questions, reason: &str) -> Vec<Answer> {
    let answer = Answer { outcome: AnswerOutcome::Unknown, detail: format!("no_answer: {reason}") };
    vec![answer; questions.lookups.len()]
}
