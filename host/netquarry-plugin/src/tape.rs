//! What the host's functions answer during a call: written down, or given as it was written down.
//!
//! Equal questions have equal answers, so that an answer is found by its question, in whatever order a plugin asks.

use std::cell::RefCell;

use indexmap::IndexMap;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::call::State;
use crate::error::{Misuse, Unanswered};

/// A call of one of the host's functions, with what it came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostCall {
    #[serde(flatten)]
    pub question: Question,
    pub answer: Answer,
}

/// What was asked.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Question {
    /// Its name in the contract: `code-index.find`.
    pub function: String,
    /// Those behind the resource, as the contract has them.
    pub arguments: Value,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    Returned(Value),
    /// The plugin misused the function, which ends its call.
    Trapped(String),
}

/// What the host does with the questions of a call.
#[derive(Debug, Default)]
pub(crate) enum Tape {
    /// It answers them.
    #[default]
    Off,
    /// It answers them and writes down how.
    Recording(IndexMap<Question, Answer>),
    /// It answers as it was written down.
    Playing(IndexMap<Question, Answer>),
}

impl Tape {
    pub(crate) fn playing(calls: &[HostCall]) -> Self {
        Self::Playing(calls.iter().map(|call| (call.question.clone(), call.answer.clone())).collect())
    }

    /// What was written down, in the order in which it was first asked.
    pub(crate) fn recorded(self) -> Vec<HostCall> {
        match self {
            Self::Recording(calls) => {
                calls.into_iter().map(|(question, answer)| HostCall { question, answer }).collect()
            }
            Self::Off | Self::Playing(_) => Vec::new(),
        }
    }
}

impl State {
    /// One call of one of the host's functions, which `answer` answers.
    ///
    /// # Errors
    /// What the plugin has done wrong; its call ends with that.
    pub(crate) fn host_call<A: Serialize, R: Serialize + DeserializeOwned>(
        &self,
        function: &'static str,
        arguments: A,
        answer: impl FnOnce() -> wasmtime::Result<R>,
    ) -> wasmtime::Result<R> {
        self.host_calls.set(self.host_calls.get() + 1);
        if matches!(*self.tape.borrow(), Tape::Off) {
            return answer();
        }
        let arguments = serde_json::to_value(arguments).expect("the types of the contract have string keys");
        let question = Question { function: function.to_owned(), arguments };
        play(&self.tape, question, answer)
    }
}

fn play<R: Serialize + DeserializeOwned>(
    tape: &RefCell<Tape>,
    question: Question,
    answer: impl FnOnce() -> wasmtime::Result<R>,
) -> wasmtime::Result<R> {
    if let Tape::Playing(calls) = &*tape.borrow() {
        return match calls.get(&question) {
            Some(Answer::Returned(value)) => Ok(serde_json::from_value(value.clone())?),
            Some(Answer::Trapped(reason)) => Err(wasmtime::Error::new(Misuse(reason.clone()))),
            None => Err(wasmtime::Error::new(Unanswered(format!(
                "it asks {} about {}, and the kept call has no answer to that",
                question.function, question.arguments
            )))),
        };
    }
    let answered = answer();
    if let Tape::Recording(calls) = &mut *tape.borrow_mut() {
        let kept = match &answered {
            Ok(value) => Answer::Returned(serde_json::to_value(value).expect("as the arguments")),
            Err(error) => Answer::Trapped(format!("{error:#}")),
        };
        calls.insert(question, kept);
    }
    answered
}
