//! Calls that failed, kept with all that it takes to make them again: the component, what it was given, and what the host
//! answered.
//!
//! A kept call is a folder: `component.wasm`, and `call.json` with a [`KeptCall`]. The host makes it again with
//! [`KeptCall::replay`]; the SDKs make it natively, where a debugger can look at it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::{fs, io};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::cache::hexadecimal;
use crate::error::{CallError, ConfigureError, FailureClass};
use crate::plugin::{Kind, Plugin};
use crate::tape::{HostCall, Tape};

/// The name of the file with the call in the folder of a kept one.
const CALL: &str = "call.json";
/// Likewise of that with the component.
const COMPONENT: &str = "component.wasm";

/// A call as it was made. Arguments and answers are as the contract has them: records by their fields with underscores for
/// hyphens, cases in CamelCase, `{"Ok": ...}` or `{"Err": ...}` for a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptCall {
    /// The version of this format, [`KeptCall::FORMAT`].
    pub format: u32,
    pub plugin: String,
    pub version: String,
    /// Of the component.
    pub sha256: String,
    pub kind: Kind,
    /// The function of the world: `answer-dynamic`.
    pub function: String,
    /// What the call was about, in words.
    pub item: String,
    /// A JSON object.
    pub configuration: Value,
    /// Of the function, without resources.
    pub arguments: Vec<Value>,
    /// How many blocks a strategy was asked about, for its limits grow with them.
    #[serde(default)]
    pub blocks: u32,
    /// What the plugin asked the host, each question once; null where that was too much to be kept. Such a call cannot be
    /// made again.
    pub host_calls: Option<Vec<HostCall>>,
    /// What the call came to.
    pub outcome: CallOutcome,
}

/// What a call comes to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallOutcome {
    Answered(Value),
    /// In what way, why, and what the plugin logged last.
    Failed {
        class: FailureClass,
        why: String,
        log: Vec<String>,
    },
}

impl CallOutcome {
    pub(crate) fn of(result: Result<Value, CallError>) -> Self {
        match result {
            Ok(answer) => Self::Answered(answer),
            Err(error) => Self::failed(&error),
        }
    }

    pub(crate) fn failed(error: &CallError) -> Self {
        let failure = &error.failure;
        Self::Failed { class: failure.class(), why: failure.to_string(), log: error.logged().collect() }
    }

    /// The way in which the call failed; none where it did not.
    pub fn class(&self) -> Option<FailureClass> {
        match self {
            Self::Answered(_) => None,
            Self::Failed { class, .. } => Some(*class),
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum KeptError {
    #[error("cannot read {}: {error}", path.display())]
    Unreadable { path: PathBuf, error: io::Error },
    #[error("{} is not a kept call: {message}{}", path.display(), at(.place))]
    Syntax { path: PathBuf, place: String, message: String },
    #[error("{} is a kept call of format {found}, and this program reads format {}", path.display(), KeptCall::FORMAT)]
    Format { path: PathBuf, found: u32 },
    #[error("{} is not the component of the call: its SHA-256 is {found}, and was {wanted}", path.display())]
    Component { path: PathBuf, found: String, wanted: String },
    #[error("the call cannot be made again: what the host answered was too much to be kept")]
    Unrecorded,
    #[error("the call is of a {wanted}, and the plugin is a {found}")]
    Kind { wanted: Kind, found: Kind },
    #[error("the arguments of the kept call are none of {function}: {message}")]
    Arguments { function: String, message: String },
    #[error(transparent)]
    Configure(#[from] ConfigureError),
}

impl KeptError {
    /// What can be done about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } | Self::Syntax { .. } => {
                "`--keep-failed-calls DIR` has a run keep calls, each in a folder below DIR"
            }
            Self::Format { .. } => "take the version of the program that kept it, or have a run keep it anew",
            Self::Component { .. } => {
                "have a run keep the call anew, or name a component with --of to make it of that one"
            }
            Self::Unrecorded => "call.json has what the plugin was given; a test of its own can give it the same",
            Self::Kind { .. } => "name a build of the plugin that the call is of with --of",
            Self::Arguments { .. } => "have a run keep the call anew: its file was changed, or is of another contract",
            Self::Configure(_) => "the call has the configuration; a build that does not take it cannot be asked",
        }
    }
}

fn at(place: &str) -> String {
    if place.is_empty() || place == "." { String::new() } else { format!(" (at {place})") }
}

impl KeptCall {
    /// The version of the format.
    pub const FORMAT: u32 = 2;

    /// Reads the call in the folder of a kept one.
    ///
    /// # Errors
    ///
    /// Where there is none, or none of this format.
    pub fn read(folder: &Path) -> Result<Self, KeptError> {
        /// What calls of all formats have.
        #[derive(Deserialize)]
        struct Versioned {
            format: u32,
        }

        let path = folder.join(CALL);
        let text = fs::read_to_string(&path).map_err(|error| KeptError::Unreadable { path: path.clone(), error })?;
        let Versioned { format: found } = parsed(&path, &text)?;
        if found != Self::FORMAT {
            return Err(KeptError::Format { path, found });
        }
        parsed(&path, &text)
    }

    /// The path of the component in the folder of this call.
    ///
    /// # Errors
    ///
    /// Where there is none, or another than the one that was called.
    pub fn component(&self, folder: &Path) -> Result<PathBuf, KeptError> {
        let path = folder.join(COMPONENT);
        let bytes = fs::read(&path).map_err(|error| KeptError::Unreadable { path: path.clone(), error })?;
        let found = hexadecimal(&Sha256::digest(bytes));
        if found == self.sha256 {
            Ok(path)
        } else {
            Err(KeptError::Component { path, found, wanted: self.sha256.clone() })
        }
    }

    /// Whether this is the plugin that was called, to the byte.
    pub fn is_of(&self, plugin: &Plugin) -> bool {
        plugin.identity().digest == self.sha256
    }

    /// Makes the call again, of this plugin: the one that was kept, or another build of it. The host answers as it did; a
    /// question that was not asked then ends the call.
    ///
    /// # Errors
    ///
    /// Where it cannot be made at all. A call that fails is an outcome.
    pub fn replay(&self, plugin: &Plugin) -> Result<CallOutcome, KeptError> {
        let found = plugin.description().kind;
        if found != self.kind {
            return Err(KeptError::Kind { wanted: self.kind, found });
        }
        let answers = Tape::playing(self.host_calls.as_ref().ok_or(KeptError::Unrecorded)?);
        match self.kind {
            Kind::DiscoveryRule => plugin.discovery_rule(&self.configuration)?.replay(self, answers),
            Kind::RepoShim => plugin.repo_shim(&self.configuration)?.replay(self, answers),
            Kind::DedupStrategy => plugin.dedup_strategy(&self.configuration)?.replay(self, answers),
            Kind::SpecEmitter => plugin.spec_emitter(&self.configuration)?.replay(self, answers),
        }
    }

    /// The argument of the function, which has one.
    pub(crate) fn argument<T: DeserializeOwned>(&self) -> Result<T, KeptError> {
        let [value] = self.arguments.as_slice() else {
            return Err(self.misfit(format!("there are {} instead of one", self.arguments.len())));
        };
        serde_path_to_error::deserialize(value).map_err(|error| self.misfit(error.to_string()))
    }

    pub(crate) fn misfit(&self, message: String) -> KeptError {
        KeptError::Arguments { function: self.function.clone(), message }
    }
}

fn parsed<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T, KeptError> {
    let syntax = |place: String, message: String| KeptError::Syntax { path: path.to_owned(), place, message };
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = serde_path_to_error::deserialize(&mut deserializer)
        .map_err(|error| syntax(error.path().to_string(), error.inner().to_string()))?;
    deserializer.end().map_err(|error| syntax(String::new(), error.to_string()))?;
    Ok(value)
}

/// Keeps failing calls of one plugin.
#[derive(Debug)]
pub(crate) struct Keeper {
    /// Where the folders of kept calls go.
    folder: PathBuf,
    component: Vec<u8>,
    /// How many were kept, by function.
    kept: Mutex<BTreeMap<String, u32>>,
}

/// So many calls of one function of a plugin are kept; further ones would tell the same.
const MOST: u32 = 3;

impl Keeper {
    pub(crate) fn new(folder: PathBuf, component: &[u8]) -> Self {
        Self { folder, component: component.to_owned(), kept: Mutex::default() }
    }

    /// Whether one more call of the function is to be kept, which then counts as kept.
    pub(crate) fn wants(&self, function: &str) -> bool {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let count = kept.entry(function.to_owned()).or_default();
        *count += 1;
        *count <= MOST
    }

    /// The folder of the call, which is the same for the same call.
    pub(crate) fn keep(&self, call: &KeptCall) -> io::Result<PathBuf> {
        let text = serde_json::to_string_pretty(call).expect("its keys are strings") + "\n";
        let digest = hexadecimal(&Sha256::digest(text.as_bytes()));
        let KeptCall { plugin, version, function, .. } = call;
        let folder = self.folder.join(format!("{plugin}-{version}-{function}-{}", &digest[..8]));
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(COMPONENT), &self.component)?;
        // Last, so that a folder in which it stands is whole.
        fs::write(folder.join(CALL), text)?;
        Ok(folder)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tape::{HostAnswer, HostQuestion};

    /// What `tests/kept/shim` has, which the SDKs read too.
    fn call() -> KeptCall {
        let asked = |function: &str, arguments, answer| HostCall {
            question: HostQuestion { function: function.to_owned(), arguments },
            answer: HostAnswer::Returned(answer),
        };
        let head = json!({
            "path": "acme.Head", "kind": "Class", "source": "acme", "file": "acme.py", "first_line": 1, "last_line": 2,
        });
        KeptCall {
            format: KeptCall::FORMAT,
            plugin: "shim-acme".to_owned(),
            version: "0.1.0".to_owned(),
            sha256: hexadecimal(&Sha256::digest(b"a component")),
            kind: Kind::RepoShim,
            function: "answer-dynamic".to_owned(),
            item: "acme.make in acme.Head".to_owned(),
            configuration: json!({}),
            arguments: vec![json!({
                "name": "acme.make", "referrer": "acme.Head", "expression": "make('norm')", "literals": ["norm"],
            })],
            blocks: 0,
            host_calls: Some(vec![
                asked("code-index.find", json!(["acme.Head"]), json!(head)),
                asked("code-index.read-file", json!(["acme", "acme/parts.txt"]), json!({"Ok": b"Norm".to_vec()})),
                asked("code-index.read-file", json!(["acme", "acme/none.txt"]), json!({"Err": "NotPermitted"})),
            ]),
            outcome: CallOutcome::Failed {
                class: FailureClass::Trap,
                why: "it trapped: wasm `unreachable` instruction executed".to_owned(),
                log: vec!["it logged: error: panicked at src/lib.rs".to_owned()],
            },
        }
    }

    fn fixture() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kept/shim")
    }

    /// A change of the format wants a number of its own, and the same change in the SDKs.
    #[test]
    fn the_format_stands_still() {
        let text = serde_json::to_string_pretty(&call()).expect("its keys are strings") + "\n";
        let path = fixture().join(CALL);
        if std::env::var_os("NETQUARRY_BLESS").is_some() {
            fs::write(&path, &text).expect("the folder is there");
        }
        let kept: Value = serde_json::from_str(&fs::read_to_string(path).expect("it is there")).expect("it is JSON");
        assert_eq!(json!(call()), kept);
        assert_eq!(KeptCall::read(&fixture()).expect("it is kept"), call());
    }

    #[test]
    fn what_is_no_kept_call_is_told() {
        let kept = fs::read_to_string(fixture().join(CALL)).expect("it is there");
        let cut_short = &kept[..kept.len() / 2];
        let cases = [
            ("", "call.json is not a kept call: EOF while parsing a value at line 1 column 0"),
            (
                "[]",
                "call.json is not a kept call: invalid length 0, expected struct Versioned with 1 element at line 1 \
                 column 2",
            ),
            ("{}", "call.json is not a kept call: missing field `format` at line 1 column 2"),
            (
                r#"{"format": 1, "plugin": "shim-acme", "answers": []}"#,
                "call.json is a kept call of format 1, and this program reads format 2",
            ),
            (r#"{"format": 3}"#, "call.json is a kept call of format 3, and this program reads format 2"),
            (r#"{"format": 2}"#, "call.json is not a kept call: missing field `plugin` at line 1 column 13"),
            (
                r#"{"format": 2, "plugins": 1}"#,
                "call.json is not a kept call: unknown field `plugins`, expected one of `format`, `plugin`, `version`, \
                 `sha256`, `kind`, `function`, `item`, `configuration`, `arguments`, `blocks`, `host_calls`, `outcome` at \
                 line 1 column 23 (at plugins)",
            ),
        ];
        let folder = tempfile::tempdir().expect("there is room");
        let refusal = |text: &str| {
            fs::write(folder.path().join(CALL), text).expect("there is room");
            let error = KeptCall::read(folder.path()).expect_err(text).to_string();
            error.replace(&format!("{}/", folder.path().display()), "")
        };
        for (text, expected) in cases {
            assert_eq!(refusal(text), expected);
        }
        assert!(
            refusal(cut_short).starts_with("call.json is not a kept call: EOF while parsing "),
            "{}",
            refusal(cut_short)
        );
        assert!(refusal(&(kept + "{}")).starts_with("call.json is not a kept call: trailing characters "));
        fs::remove_file(folder.path().join(CALL)).expect("it is there");
        assert!(matches!(KeptCall::read(folder.path()), Err(KeptError::Unreadable { .. })));
    }

    #[test]
    fn a_component_that_is_not_the_one_of_the_call_is_told() {
        let folder = tempfile::tempdir().expect("there is room");
        let keeper = Keeper::new(folder.path().to_owned(), b"a component");
        let kept = keeper.keep(&call()).expect("there is room");
        assert_eq!(KeptCall::read(&kept).expect("it is kept"), call());
        let component = call().component(&kept).expect("it is there");
        fs::write(&component, "another component").expect("there is room");
        let error = call().component(&kept).expect_err("it is another").to_string();
        let [found, wanted] =
            [b"another component".as_slice(), b"a component"].map(|it| hexadecimal(&Sha256::digest(it)));
        let path = component.display();
        assert_eq!(error, format!("{path} is not the component of the call: its SHA-256 is {found}, and was {wanted}"));
        fs::remove_file(&component).expect("it is there");
        assert!(matches!(call().component(&kept), Err(KeptError::Unreadable { .. })));
    }

    #[test]
    fn a_function_that_is_given_something_else_is_told() {
        let refusal = |arguments: Vec<Value>| {
            let call = KeptCall { arguments, ..call() };
            call.argument::<Vec<u32>>().expect_err("it is something else").to_string()
        };
        let told = |message: &str| format!("the arguments of the kept call are none of answer-dynamic: {message}");
        assert_eq!(refusal(vec![]), told("there are 0 instead of one"));
        assert_eq!(refusal(vec![json!([]), json!([])]), told("there are 2 instead of one"));
        assert_eq!(refusal(vec![json!([1, "a"])]), told("[1]: invalid type: string \"a\", expected u32"));
    }

    #[test]
    fn three_calls_of_a_function_are_kept() {
        let keeper = Keeper::new(PathBuf::new(), b"");
        assert_eq!([(); 5].map(|()| keeper.wants("discover")), [true, true, true, false, false]);
        assert!(keeper.wants("describe"));
    }
}
