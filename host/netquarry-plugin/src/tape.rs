//! What the host's functions answer during a call: written down, or given as it was written down.
//!
//! Equal questions have equal answers, so that an answer is found by its question, in whatever order a plugin asks.

use std::collections::HashMap;
use std::io;

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
    pub question: HostQuestion,
    pub answer: HostAnswer,
}

/// What was asked.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct HostQuestion {
    /// Its name in the contract: `code-index.find`.
    pub function: String,
    /// Those behind the resource, as the contract has them.
    pub arguments: Value,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostAnswer {
    Returned(Value),
    /// The plugin misused the function, which ends its call.
    Trapped(String),
}

impl HostQuestion {
    fn new(function: &str, arguments: impl Serialize) -> Self {
        let arguments = serde_json::to_value(arguments).expect("the types of the contract have string keys");
        Self { function: function.to_owned(), arguments }
    }
}

/// What the host does with the questions of a call.
#[derive(Debug, Default)]
pub(crate) enum Tape {
    /// It answers them.
    #[default]
    Off,
    /// It answers them and writes down how.
    Recording(Recording),
    /// It answers as it was written down.
    Playing(HashMap<HostQuestion, HostAnswer>),
}

/// Answers, in the order in which they were first asked for.
#[derive(Debug)]
pub(crate) struct Recording {
    answers: IndexMap<HostQuestion, HostAnswer>,
    /// About how many bytes of memory further ones may take; `None` where there were too many, of which none is of use.
    room: Option<usize>,
}

impl Recording {
    /// About how many bytes of memory the answers of a call may take.
    const BYTES: usize = 64 << 20;

    pub(crate) fn new() -> Self {
        Self::with_room(Self::BYTES)
    }

    fn with_room(bytes: usize) -> Self {
        Self { answers: IndexMap::new(), room: Some(bytes) }
    }

    fn record<R: Serialize>(
        &mut self,
        function: &str,
        arguments: impl Serialize,
        answer: impl FnOnce() -> wasmtime::Result<R>,
    ) -> wasmtime::Result<R> {
        let asked = footprint(&arguments);
        if self.room.is_none_or(|room| asked > room) {
            self.give_up();
            return answer();
        }
        let question = HostQuestion::new(function, arguments);
        let answered = answer();
        if self.answers.contains_key(&question) {
            return answered;
        }
        let told = answered.as_ref().map_or(0, footprint);
        match self.room.and_then(|room| room.checked_sub(asked.saturating_add(told))) {
            None => self.give_up(),
            Some(room) => {
                let kept = match &answered {
                    Ok(value) => HostAnswer::Returned(serde_json::to_value(value).expect("as the arguments")),
                    Err(error) => HostAnswer::Trapped(format!("{error:#}")),
                };
                self.answers.insert(question, kept);
                self.room = Some(room);
            }
        }
        answered
    }

    fn give_up(&mut self) {
        *self = Self { answers: IndexMap::new(), room: None };
    }

    /// What was written down; `None` where that was too much.
    fn calls(self) -> Option<Vec<HostCall>> {
        let call = |(question, answer)| HostCall { question, answer };
        self.room.map(|_| self.answers.into_iter().map(call).collect())
    }
}

/// About how many bytes a value takes in memory as JSON, counted without making it.
fn footprint(value: &impl Serialize) -> usize {
    struct Count(usize);

    impl io::Write for Count {
        fn write(&mut self, text: &[u8]) -> io::Result<usize> {
            // What the first entry of an object takes.
            const OBJECT: usize = 640;
            // One of these stands before every value but the outermost. Those within strings count too, so that it is never
            // too little.
            let values = text.iter().filter(|byte| b"[{:,".contains(byte)).count();
            let objects = text.iter().filter(|byte| **byte == b'{').count();
            self.0 = self.0.saturating_add(text.len() + values * size_of::<Value>() + objects * OBJECT);
            Ok(text.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    let mut count = Count(size_of::<Value>());
    serde_json::to_writer(&mut count, value).expect("the types of the contract have string keys");
    count.0
}

impl Tape {
    pub(crate) fn recording() -> Self {
        Self::Recording(Recording::new())
    }

    pub(crate) fn playing(calls: &[HostCall]) -> Self {
        Self::Playing(calls.iter().map(|call| (call.question.clone(), call.answer.clone())).collect())
    }

    /// What was written down, in the order in which it was first asked; `None` where that was too much.
    pub(crate) fn recorded(self) -> Option<Vec<HostCall>> {
        match self {
            Self::Recording(recording) => recording.calls(),
            Self::Off | Self::Playing(_) => Some(Vec::new()),
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
        match &mut *self.tape.borrow_mut() {
            Tape::Off => answer(),
            Tape::Recording(recording) => recording.record(function, arguments, answer),
            Tape::Playing(answers) => played(answers, &HostQuestion::new(function, arguments)),
        }
    }
}

fn played<R: DeserializeOwned>(
    answers: &HashMap<HostQuestion, HostAnswer>,
    question: &HostQuestion,
) -> wasmtime::Result<R> {
    let HostQuestion { function, arguments } = question;
    let unanswered = |why: String| wasmtime::Error::new(Unanswered(why));
    match answers.get(question) {
        Some(HostAnswer::Returned(value)) => serde_json::from_value(value.clone())
            .map_err(|error| unanswered(format!("the kept answer is none of {function}: {error}"))),
        Some(HostAnswer::Trapped(reason)) => Err(wasmtime::Error::new(Misuse(reason.clone()))),
        None => {
            Err(unanswered(format!("it asks {function} about {arguments}, and the kept call has no answer to that")))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// What is left of a recording in which the plugin asks for these texts, and is given them.
    fn recorded(room: usize, texts: &[&str]) -> Option<Vec<HostCall>> {
        let mut recording = Recording::with_room(room);
        for text in texts {
            let answer = || Ok((*text).to_owned());
            assert_eq!(recording.record("code-index.source", (text,), answer).expect("it is given"), *text);
        }
        recording.calls()
    }

    #[test]
    fn what_is_asked_twice_is_kept_once() {
        let call = |text: &str| HostCall {
            question: HostQuestion::new("code-index.source", (text,)),
            answer: HostAnswer::Returned(json!(text)),
        };
        assert_eq!(recorded(10_000, &["b", "a", "b"]), Some(vec![call("b"), call("a")]));
        let often = vec!["a"; 1000];
        assert_eq!(recorded(10_000, &often), Some(vec![call("a")]));
    }

    #[test]
    fn a_recording_of_too_much_is_none() {
        let long = "a".repeat(1000);
        let texts: Vec<String> = (0..100).map(|number| format!("{number}{long}")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        assert_eq!(recorded(100_000, &texts), None);
        assert_eq!(recorded(1_000_000, &texts).map(|calls| calls.len()), Some(100));
        // Nothing that fits comes behind what did not: a tape with gaps would be played as if it were whole.
        assert_eq!(recorded(1000, &[&long, "a"]), None);
    }

    #[test]
    fn what_answers_take_is_not_underrated() {
        let bytes = vec![7_u8; 1 << 20];
        assert!(footprint(&bytes) >= bytes.len() * size_of::<Value>());
        let objects = vec![json!({"first": 1, "second": 2}); 1000];
        assert!(footprint(&objects) >= objects.len() * (640 + 2 * size_of::<Value>()));
        assert_eq!(footprint(&()), size_of::<Value>() + "null".len());
    }

    #[test]
    fn a_tape_answers_what_it_has() {
        let cases = [
            (json!(["a"]), Ok(1)),
            (json!(["b"]), Err("it is no block")),
            (json!(["c"]), Err("the kept answer is none of block-set.count: invalid type: string \"x\", expected u32")),
            (json!(["d"]), Err("it asks block-set.count about [\"d\"], and the kept call has no answer to that")),
        ];
        let call =
            |arguments: &str, answer| HostCall { question: HostQuestion::new("block-set.count", (arguments,)), answer };
        let Tape::Playing(answers) = Tape::playing(&[
            call("a", HostAnswer::Returned(json!(1))),
            call("b", HostAnswer::Trapped("it is no block".to_owned())),
            call("c", HostAnswer::Returned(json!("x"))),
        ]) else {
            panic!("it is to be played")
        };
        for (arguments, expected) in cases {
            let question = HostQuestion { function: "block-set.count".to_owned(), arguments };
            let found = played::<u32>(&answers, &question).map_err(|error| error.to_string());
            assert_eq!(found, expected.map_err(str::to_owned));
        }
    }
}
