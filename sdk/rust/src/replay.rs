//! Calls that failed in a run, made again natively, where a debugger can look at them.
//!
//! `netquarry run --keep-failed-calls kept` keeps them, each in a folder. A test makes one again:
//!
//! ```ignore
//! #[test]
//! fn the_call_that_failed() {
//!     let answer = netquarry_sdk::replay::repo_shim::<ShimAcme>("kept/shim-acme-0.1.0-answer-dynamic-1a2b3c4d");
//!     assert!(answer.is_ok());
//! }
//! ```
//!
//! The plugin is configured as it was, and what it asks of the host is answered as it was. What it answers comes back as
//! JSON, in the form of the kept call. All of these functions panic where the plugin does; and where the folder holds no such
//! call of the format that this SDK reads, or the plugin asks what it did not ask then.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::Refusal;
use crate::dedup::{
    Banding, BlockSummary, Blocks, Criterion, DedupStrategy, Follower, Hashing, Pair, Shingling, SimilarBlocks,
    SimilarStructures, Structure,
};
use crate::discovery::DiscoveryRule;
use crate::emit::SpecEmitter;
use crate::plugin::{Plugin, configured};
use crate::shim::{CodeIndex, Definition, FileError, RepoShim};

/// Makes a kept call of a discovery rule again.
///
/// # Errors
///
/// What the rule refuses with.
pub fn discovery_rule<P: DiscoveryRule>(folder: impl AsRef<Path>) -> Result<Value, Refusal> {
    let call = Call::read(folder.as_ref());
    match call.function.as_str() {
        "discover" => Ok(json!(call.plugin::<P>().discover(&call.argument::<Vec<_>>())?)),
        function => panic!("a discovery rule has no function {function}"),
    }
}

/// Makes a kept call of a shim again.
///
/// # Errors
///
/// What the shim refuses with.
pub fn repo_shim<P: RepoShim>(folder: impl AsRef<Path>) -> Result<Value, Refusal> {
    let call = Call::read(folder.as_ref());
    let shim = call.plugin::<P>();
    match call.function.as_str() {
        "tables" => Ok(json!(shim.tables()?)),
        "answer-dynamic" => Ok(json!(shim.answer(&call.argument(), &call.host)?)),
        function => panic!("a shim has no function {function}"),
    }
}

/// Makes a kept call of a deduplication strategy again.
///
/// # Errors
///
/// What the strategy refuses with.
pub fn dedup_strategy<P: DedupStrategy>(folder: impl AsRef<Path>) -> Result<Value, Refusal> {
    let call = Call::read(folder.as_ref());
    match call.function.as_str() {
        "deduplicate" => Ok(json!(call.plugin::<P>().deduplicate(&call.host)?)),
        function => panic!("a deduplication strategy has no function {function}"),
    }
}

/// Makes a kept call of an emitter again.
///
/// # Errors
///
/// What the emitter refuses with.
pub fn spec_emitter<P: SpecEmitter>(folder: impl AsRef<Path>) -> Result<Value, Refusal> {
    let call = Call::read(folder.as_ref());
    let emitter = call.plugin::<P>();
    match call.function.as_str() {
        "emit-block" => Ok(json!(emitter.emit_block(&call.argument())?)),
        "emit-index" => Ok(json!(emitter.emit_index(&call.argument::<Vec<_>>())?)),
        function => panic!("an emitter has no function {function}"),
    }
}

/// The format of kept calls that is read here.
const FORMAT: u32 = 2;

/// What is read of a kept call.
struct Call {
    function: String,
    configuration: Value,
    arguments: Vec<Value>,
    host: Host,
}

/// What calls of all formats have.
#[derive(Deserialize)]
struct Versioned {
    format: u32,
}

#[derive(Deserialize)]
struct Document {
    function: String,
    configuration: Value,
    arguments: Vec<Value>,
    /// None where that was too much to be kept.
    host_calls: Option<Vec<HostCall>>,
}

#[derive(Deserialize)]
struct HostCall {
    function: String,
    arguments: Value,
    answer: Answer,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Returned(Value),
    Trapped(String),
}

impl Call {
    fn read(folder: &Path) -> Self {
        let path = folder.join("call.json");
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
        Self::parse(&text).unwrap_or_else(|reason| panic!("{} {reason}", path.display()))
    }

    /// The call, or what the file is instead.
    fn parse(text: &str) -> Result<Self, String> {
        let syntax = |error: serde_json::Error| format!("is not a kept call: {error}");
        let Versioned { format } = serde_json::from_str(text).map_err(syntax)?;
        if format != FORMAT {
            return Err(format!("is a kept call of format {format}, and this SDK reads format {FORMAT}"));
        }
        let Document { function, configuration, arguments, host_calls } = serde_json::from_str(text).map_err(syntax)?;
        let Some(host_calls) = host_calls else {
            return Err("cannot be made again: what the host answered was too much to be kept".to_owned());
        };
        let answers = host_calls.into_iter().map(|call| ((call.function, call.arguments), call.answer)).collect();
        Ok(Self { function, configuration, arguments, host: Host { answers } })
    }

    fn plugin<P: Plugin>(&self) -> P {
        configured(&self.configuration.to_string())
            .unwrap_or_else(|error| panic!("the plugin does not accept its configuration: {error:?}"))
    }

    /// Of the function, which has one.
    fn argument<T: DeserializeOwned>(&self) -> T {
        let [argument] = self.arguments.as_slice() else {
            panic!("the kept call has {} arguments, and {} has one", self.arguments.len(), self.function)
        };
        T::deserialize(argument)
            .unwrap_or_else(|error| panic!("the argument of the kept call is none of {}: {error}", self.function))
    }
}

/// Answers as the host did.
struct Host {
    /// By function and arguments.
    answers: HashMap<(String, Value), Answer>,
}

impl Host {
    fn answer<T: DeserializeOwned>(&self, function: &str, arguments: impl Serialize) -> T {
        let question = (function.to_owned(), json!(arguments));
        match self.answers.get(&question) {
            Some(Answer::Returned(value)) => {
                T::deserialize(value).unwrap_or_else(|error| panic!("the kept answer of {function} is none: {error}"))
            }
            Some(Answer::Trapped(reason)) => panic!("the host refused {function}: {reason}"),
            None => panic!("it asks {function} about {}, and the kept call has no answer to that", question.1),
        }
    }

    /// Of a function that says in words what it does not offer.
    fn kernel<T: DeserializeOwned>(&self, function: &str, arguments: impl Serialize) -> Result<T, Refusal> {
        self.answer::<Result<T, String>>(function, arguments).map_err(Refusal::Host)
    }
}

impl CodeIndex for Host {
    fn find(&self, path: &str) -> Option<Definition> {
        self.answer("code-index.find", (path,))
    }

    fn source(&self, path: &str) -> Option<String> {
        self.answer("code-index.source", (path,))
    }

    fn references(&self, path: &str) -> Vec<String> {
        self.answer("code-index.references", (path,))
    }

    fn registered(&self, registry: &str, key: &str) -> Vec<String> {
        self.answer("code-index.registered", (registry, key))
    }

    fn files(&self, source: &str) -> Vec<String> {
        self.answer("code-index.files", (source,))
    }

    fn read_file(&self, source: &str, path: &str) -> Result<Vec<u8>, FileError> {
        self.answer("code-index.read-file", (source, path))
    }
}

impl Blocks for Host {
    fn count(&self) -> u32 {
        self.answer("block-set.len", ())
    }

    fn total(&self) -> u32 {
        self.answer("block-set.total", ())
    }

    fn positions(&self) -> Vec<u32> {
        self.answer("block-set.positions", ())
    }

    fn summaries(&self, start: u32, count: u32) -> Vec<BlockSummary> {
        self.answer("block-set.summaries", (start, count))
    }

    fn code(&self, block: u32) -> String {
        self.answer("block-set.code", (block,))
    }

    fn tokens(&self, block: u32, normalisation: &str) -> Result<Vec<String>, Refusal> {
        self.kernel("block-set.tokens", (block, normalisation))
    }

    fn shingle_count(&self, block: u32, shingling: &Shingling) -> Result<u32, Refusal> {
        self.kernel("block-set.shingle-count", (block, shingling))
    }

    fn first_equals(&self, members: &[u32], shingling: &Shingling) -> Result<Vec<u32>, Refusal> {
        self.kernel("block-set.first-equals", (members, shingling))
    }

    fn signature(&self, block: u32, shingling: &Shingling, hashing: &Hashing) -> Result<Vec<u32>, Refusal> {
        self.kernel("block-set.signature", (block, shingling, hashing))
    }

    fn candidate_pairs(&self, members: &[u32], shingling: &Shingling, banding: &Banding) -> Result<Vec<Pair>, Refusal> {
        self.kernel("block-set.candidate-pairs", (members, shingling, banding))
    }

    fn candidate_groups(
        &self,
        members: &[u32],
        shingling: &Shingling,
        banding: &Banding,
    ) -> Result<Vec<Vec<u32>>, Refusal> {
        self.kernel("block-set.candidate-groups", (members, shingling, banding))
    }

    fn leaders(&self, order: &[u32], criteria: &[Criterion], banding: &Banding) -> Result<Vec<Follower>, Refusal> {
        self.kernel("block-set.leaders", (order, criteria, banding))
    }

    fn similar_groups(&self, members: &[u32], criteria: &[Criterion]) -> Result<Vec<Vec<u32>>, Refusal> {
        self.kernel("block-set.similar-groups", (members, criteria))
    }

    fn jaccard(&self, block: u32, others: &[u32], shingling: &Shingling) -> Result<Vec<f64>, Refusal> {
        self.kernel("block-set.jaccard", (block, others, shingling))
    }

    fn structure(&self, block: u32) -> Structure {
        self.answer("block-set.structure", (block,))
    }

    fn structure_digests(&self, members: &[u32]) -> Vec<String> {
        self.answer("block-set.structure-digests", (members,))
    }

    fn structural_jaccard(&self, block: u32, others: &[u32]) -> Vec<f64> {
        self.answer("block-set.structural-jaccard", (block, others))
    }

    fn structure_index<'a>(&'a self, members: &[u32], threshold: f64) -> Box<dyn SimilarStructures + 'a> {
        let name = self.answer("block-set.structure-index", (members, threshold));
        Box::new(KeptStructures { host: self, name })
    }
}

struct KeptStructures<'a> {
    host: &'a Host,
    /// By which the kept call knows the index.
    name: String,
}

impl SimilarStructures for KeptStructures<'_> {
    fn similar(&self, blocks: &[u32], most: u32) -> SimilarBlocks {
        self.host.answer("structure-index.similar", (&self.name, blocks, most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shim::{Answer, Question, Resolved, Tables};
    use crate::{ConfigurationError, NoConfiguration};

    /// A call as the host keeps it; a test of the host's holds it to that.
    const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../host/netquarry-plugin/tests/kept/shim");

    /// Answers with what is in a file of the source of a definition: one that it was granted, or another.
    struct Parts<const GRANTED: bool>;

    impl<const GRANTED: bool> Plugin for Parts<GRANTED> {
        const NAME: &str = "shim-acme";
        const VERSION: &str = "0.1.0";
        const DOCUMENTATION: &str = "A test.";
        type Configuration = NoConfiguration;

        fn new(_: NoConfiguration) -> Result<Self, ConfigurationError> {
            Ok(Self)
        }
    }

    impl<const GRANTED: bool> RepoShim for Parts<GRANTED> {
        fn tables(&self) -> Result<Tables, Refusal> {
            Ok(Tables::default())
        }

        fn answer(&self, question: &Question, index: &dyn CodeIndex) -> Result<Answer, Refusal> {
            let source = index.find(&question.referrer).expect("it was found").source;
            let path = if GRANTED { "acme/parts.txt" } else { "acme/none.txt" };
            let bytes = index.read_file(&source, path).map_err(|error| Refusal::Host(format!("{error:?}")))?;
            let paths = vec![String::from_utf8(bytes).expect("it is UTF-8")];
            Ok(Answer::Definitions(Resolved { paths, why: question.literals[0].clone() }))
        }
    }

    #[test]
    fn a_call_that_the_host_kept_is_made_again() {
        let answer = repo_shim::<Parts<true>>(KEPT).ok();
        assert_eq!(answer, Some(json!({"Definitions": {"paths": ["Norm"], "why": "norm"}})));
        assert!(matches!(repo_shim::<Parts<false>>(KEPT), Err(Refusal::Host(why)) if why.ends_with("NotPermitted")));
    }

    #[test]
    fn what_is_no_kept_call_is_told() {
        let cases = [
            ("", "is not a kept call: EOF while parsing a value at line 1 column 0"),
            ("{}", "is not a kept call: missing field `format` at line 1 column 2"),
            (r#"{"format": 1}"#, "is a kept call of format 1, and this SDK reads format 2"),
            (r#"{"format": 2}"#, "is not a kept call: missing field `function` at line 1 column 13"),
            (
                r#"{"format": 2, "function": "tables", "configuration": {}, "arguments": [], "host_calls": null}"#,
                "cannot be made again: what the host answered was too much to be kept",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(Call::parse(text).err().as_deref(), Some(expected));
        }
    }

    #[test]
    #[should_panic(expected = "a discovery rule has no function answer-dynamic")]
    fn a_call_of_another_kind_is_told() {
        struct Rule;

        impl Plugin for Rule {
            const NAME: &str = "discover-test";
            const VERSION: &str = "0.1.0";
            const DOCUMENTATION: &str = "A test.";
            type Configuration = NoConfiguration;

            fn new(_: NoConfiguration) -> Result<Self, ConfigurationError> {
                Ok(Self)
            }
        }

        impl DiscoveryRule for Rule {
            fn discover(
                &self,
                _: &[crate::discovery::ClassDescription],
            ) -> Result<Vec<crate::discovery::Proposal>, Refusal> {
                Ok(Vec::new())
            }
        }

        let _ = discovery_rule::<Rule>(KEPT);
    }

    #[test]
    #[should_panic(expected = "it asks code-index.files about [\"acme\"], and the kept call has no answer to that")]
    fn what_was_not_asked_has_no_answer() {
        Call::read(Path::new(KEPT)).host.files("acme");
    }
}
