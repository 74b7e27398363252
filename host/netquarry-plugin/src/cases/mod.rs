//! Cases: what a plugin is given and what it makes of it, as JSON.
//!
//! A case is run by the real host on the real component. The examples that a component exports, the fixtures of its author
//! and the golden pack of a version are all cases.
//!
//! What goes in is close to what the author has at hand: a rule and a shim get the files of a small repository, a strategy
//! gets codes, an emitter records of a manifest. What comes out is what the host makes of the answers: candidates,
//! bundles, decisions by the names of blocks, files. Code and text stand as lists of lines, so that a difference can be read.

mod emitter;
mod hostile;
mod pack;
mod repository;
mod rule;
mod shim;
mod strategy;

use std::collections::BTreeMap;
use std::thread;

use netquarry_core::syntax::PARSER_STACK_BYTES;
use schemars::{JsonSchema, Schema, schema_for};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

pub use hostile::hostile;
pub use pack::GoldenPack;

use crate::error::{CallError, ConfigureError};
use crate::plugin::{Kind, Plugin};

/// What a plugin is given, and what it makes of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The plugin's configuration.
    #[serde(default)]
    pub configuration: Map<String, Value>,
    /// Depends on the kind of the plugin.
    pub input: Value,
    /// Likewise; null where nobody has looked at it yet.
    #[serde(default)]
    pub output: Value,
}

/// Why a case cannot be run. A call that fails is no reason: that stands in the output.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    #[error("it is not a case: {message}{}", at(.path))]
    Case { path: String, message: String },
    #[error("it is not a golden pack: {message}{}", at(.path))]
    Pack { path: String, message: String },
    #[error("its input is none for a {kind}: {message}{}", at(.path))]
    Input { kind: Kind, path: String, message: String },
    #[error(transparent)]
    Configure(#[from] ConfigureError),
}

fn at(path: &str) -> String {
    if path.is_empty() || path == "." { String::new() } else { format!(" (at {path})") }
}

impl Case {
    /// Reads a case.
    ///
    /// # Errors
    ///
    /// Where the text is not JSON, or is not a case.
    pub fn read(text: &str) -> Result<Self, CaseError> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        serde_path_to_error::deserialize(&mut deserializer)
            .map_err(|error| CaseError::Case { path: error.path().to_string(), message: error.inner().to_string() })
    }

    /// As it stands in a file.
    pub fn text(&self) -> String {
        serde_json::to_string_pretty(self).expect("its keys are strings") + "\n"
    }

    /// Has the plugin make of the input what it does. Every call has an instance of its own, so that two runs give the same.
    ///
    /// # Errors
    ///
    /// Where the input is not one for a plugin of this kind, or the plugin does not accept the configuration.
    pub fn run(&self, plugin: &Plugin) -> Result<CaseRun, CaseError> {
        let configuration = Value::Object(self.configuration.clone());
        let run = || match plugin.description().kind {
            Kind::DiscoveryRule => Ok(CaseRun::of(rule::run(&plugin.discovery_rule(&configuration)?, &self.input()?))),
            Kind::RepoShim => {
                Ok(CaseRun::of(shim::run(&plugin.clone().granted_all().repo_shim(&configuration)?, &self.input()?)?))
            }
            Kind::DedupStrategy => {
                Ok(CaseRun::of(strategy::run(&plugin.dedup_strategy(&configuration)?, &self.input()?)))
            }
            Kind::SpecEmitter => Ok(CaseRun::of(emitter::run(&plugin.spec_emitter(&configuration)?, self.input()?)?)),
        };
        thread::scope(|scope| {
            let worker = thread::Builder::new().stack_size(PARSER_STACK_BYTES).spawn_scoped(scope, run);
            worker.expect("a thread can be started").join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    fn input<I: Input>(&self) -> Result<I, CaseError> {
        serde_path_to_error::deserialize(&self.input).map_err(|error| CaseError::Input {
            kind: I::KIND,
            path: error.path().to_string(),
            message: error.inner().to_string(),
        })
    }

    /// The JSON Schema of cases of plugins of a kind.
    pub fn schema(kind: Kind) -> Schema {
        let mut case = schema_for!(Self);
        let (input, output) = match kind {
            Kind::DiscoveryRule => (schema_for!(rule::RuleInput), schema_for!(rule::RuleOutput)),
            Kind::RepoShim => (schema_for!(shim::ShimInput), schema_for!(shim::ShimOutput)),
            Kind::DedupStrategy => (schema_for!(strategy::StrategyInput), schema_for!(strategy::StrategyOutput)),
            Kind::SpecEmitter => (schema_for!(emitter::EmitterInput), schema_for!(emitter::EmitterOutput)),
        };
        let mut definitions = Map::new();
        for (name, mut part) in [("input", input), ("output", output)] {
            part.remove("$schema");
            let own = part.remove("$defs").and_then(|own| own.as_object().cloned());
            definitions.extend(own.unwrap_or_default());
            let part = match name {
                "output" => json!({"anyOf": [with_failures(part), {"type": "null"}]}),
                _ => part.to_value(),
            };
            case.pointer_mut("/properties")
                .and_then(Value::as_object_mut)
                .expect("a case has properties")
                .insert(name.to_owned(), part);
        }
        case.insert("$defs".to_owned(), Value::Object(definitions));
        case
    }
}

/// The schema of an output in which failures may stand too.
fn with_failures(mut output: Schema) -> Schema {
    let failures = json!({
        "description": "Calls that failed, and why.",
        "type": "array",
        "items": {"type": "string"},
    });
    let properties = output.pointer_mut("/properties").and_then(Value::as_object_mut);
    properties.expect("an output has properties").insert(FAILURES.to_owned(), failures);
    output
}

/// What cases of a kind give to the plugin.
trait Input: DeserializeOwned {
    const KIND: Kind;
}

/// What came of a case.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseRun {
    /// Where calls failed, their failures are under the key `failures`.
    pub output: Value,
    /// The same failures, with all that is known of them.
    pub failures: Vec<CallError>,
}

impl CaseRun {
    fn of<O: Serialize>(Answered { output, failures }: Answered<O>) -> Self {
        let mut output = serde_json::to_value(&output).expect("outputs have string keys");
        if !failures.is_empty() {
            output[FAILURES] = told(&failures).into();
        }
        Self { output, failures }
    }
}

/// The key of an output under which failures stand.
const FAILURES: &str = "failures";

/// What came of a case, in the type of its kind.
struct Answered<O> {
    output: O,
    failures: Vec<CallError>,
}

impl<O> From<O> for Answered<O> {
    fn from(output: O) -> Self {
        Self { output, failures: Vec::new() }
    }
}

/// The lines of a text. The last one is empty where the text ends with the end of a line.
fn lines(text: &str) -> Vec<String> {
    text.split('\n').map(str::to_owned).collect()
}

/// How calls failed, without what differs between two builds of a plugin.
fn told(failures: &[CallError]) -> Vec<String> {
    let told = |error: &CallError| {
        let CallError { stage, item, failure, .. } = error;
        let what = if item.is_empty() { String::new() } else { format!(" {item}") };
        format!("it failed to {stage}{what}: {failure}")
    };
    failures.iter().map(told).collect()
}

/// A path and what stands there; `None` on a side that has nothing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// A JSON pointer, RFC 6901.
    pub pointer: String,
    pub expected: Option<Value>,
    pub found: Option<Value>,
}

/// Where two outputs differ, in the order of their keys. Lists of different lengths are compared as far as the shorter goes,
/// and then element by element against nothing.
pub fn differences(expected: &Value, found: &Value) -> Vec<Difference> {
    let mut differences = Vec::new();
    compare(String::new(), Some(expected), Some(found), &mut differences);
    differences
}

fn compare(pointer: String, expected: Option<&Value>, found: Option<&Value>, into: &mut Vec<Difference>) {
    match (expected, found) {
        (expected, found) if expected == found => {}
        (Some(Value::Object(left)), Some(Value::Object(right))) => {
            let keys: BTreeMap<&String, ()> = left.keys().chain(right.keys()).map(|key| (key, ())).collect();
            for (key, ()) in keys {
                let below = format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"));
                compare(below, left.get(key), right.get(key), into);
            }
        }
        (Some(Value::Array(left)), Some(Value::Array(right))) => {
            for index in 0..left.len().max(right.len()) {
                compare(format!("{pointer}/{index}"), left.get(index), right.get(index), into);
            }
        }
        (expected, found) => {
            into.push(Difference { pointer, expected: expected.cloned(), found: found.cloned() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_pointed_at() {
        let expected = json!({"same": 1, "a/b": [1, 2, 3], "gone": null, "inner": {"x": "left"}});
        let found = json!({"same": 1, "a/b": [1, 5], "new": true, "inner": {"x": "right"}});
        let pointers: Vec<String> =
            differences(&expected, &found).into_iter().map(|difference| difference.pointer).collect();
        assert_eq!(pointers, ["/a~1b/1", "/a~1b/2", "/gone", "/inner/x", "/new"]);
        assert_eq!(differences(&expected, &expected), []);
    }

    #[test]
    fn what_is_no_case_is_told_where() {
        let error = Case::read(r#"{"input": {}, "outputs": {}}"#).expect_err("there is no such key");
        assert!(error.to_string().contains("unknown field `outputs`"), "{error}");
        let error = Case::read(r#"{"configuration": [], "input": {}}"#).expect_err("a configuration is an object");
        assert!(error.to_string().ends_with("(at configuration)"), "{error}");
    }
}
