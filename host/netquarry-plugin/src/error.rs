//! What can go wrong with a plugin: when it is loaded, when it is configured, and when it is called.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::api_version::{ApiVersion, ApiVersionError};
use crate::plugin::Kind;

/// Which plugin, to the byte.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PluginIdentity {
    pub name: String,
    pub version: String,
    /// SHA-256 of the component, as hexadecimal digits.
    pub digest: String,
}

impl PluginIdentity {
    const UNNAMED: &str = "(unnamed)";

    /// That of a component which has not described itself yet.
    pub(crate) fn unnamed(digest: String) -> Self {
        Self { name: Self::UNNAMED.to_owned(), version: "?".to_owned(), digest }
    }

    /// Whether the component has described itself.
    pub fn is_named(&self) -> bool {
        self.name != Self::UNNAMED
    }

    /// What an error begins with: name, version and digest, or the digest alone where nothing else is known.
    pub fn title(&self) -> String {
        if self.is_named() { format!("plugin {self}") } else { format!("component sha256:{}", self.digest) }
    }
}

impl fmt::Display for PluginIdentity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {} (sha256:{})", self.name, self.version, self.digest)
    }
}

/// A component that cannot be used as a plugin.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("component sha256:{digest} has {bytes} bytes, and a plugin may have {limit}")]
    TooLarge { digest: String, bytes: usize, limit: usize },
    #[error("component sha256:{digest} is no plugin: {source}")]
    ApiVersion { digest: String, source: ApiVersionError },
    #[error(
        "component sha256:{digest} was written against version {found} of netquarry:plugin, and this host speaks {}",
        ApiVersion::CURRENT
    )]
    Unsupported { digest: String, found: ApiVersion },
    #[error("component sha256:{digest} does not compile: {reason}")]
    Compile { digest: String, reason: String },
    #[error("{} does not fit the world {world} of netquarry:plugin {}: {reason}", .plugin.title(), ApiVersion::CURRENT)]
    World { plugin: PluginIdentity, world: &'static str, reason: String },
    #[error("{} describes itself wrongly: {reason}", .plugin.title())]
    Description { plugin: PluginIdentity, reason: String },
    #[error(transparent)]
    Call(#[from] CallError),
}

impl LoadError {
    /// What can be done about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "build it without debugging information and with fewer dependencies",
            Self::ApiVersion { source: ApiVersionError::Malformed, .. } => {
                "get it again: it is damaged, or was never a component"
            }
            Self::ApiVersion { .. } => "build it with `netquarry plugin build`",
            Self::Unsupported { .. } => "take a version of the plugin for this host, or a newer host",
            Self::Compile { .. } => "get it or build it again: it is damaged, or wants what no plugin may have",
            Self::World { .. } => {
                "build it again with the SDK of this version; a plugin exports all of its world, and imports nothing \
                 else: no files, no network, no clock"
            }
            Self::Description { .. } | Self::Call(_) => "its author has to mend it; until then do without it",
        }
    }
}

/// A plugin that cannot be used as configured.
#[derive(Debug, thiserror::Error)]
pub enum ConfigureError {
    #[error("plugin {plugin} is a {found}, and a {wanted} is wanted here")]
    Kind { plugin: PluginIdentity, found: Kind, wanted: Kind },
    #[error("plugin {plugin} does not accept its configuration{}: {message}", at(.pointer))]
    Refused {
        plugin: PluginIdentity,
        /// A JSON pointer into the configuration.
        pointer: String,
        message: String,
    },
    #[error(transparent)]
    Call(#[from] CallError),
}

fn at(pointer: &str) -> String {
    if pointer.is_empty() { String::new() } else { format!(" at {pointer}") }
}

/// A call that gave no result. It concerns the item alone: the next call starts anew.
#[derive(Clone, Debug, PartialEq)]
pub struct CallError {
    pub plugin: PluginIdentity,
    /// What the plugin was asked to do: `describe`, `show`, `configure`, `discover`, `tell`, `answer about`, `deduplicate`,
    /// `emit`.
    pub stage: &'static str,
    /// What it was asked about: a block, a name, the classes of modules, `its tables`. Empty where it needs no words.
    pub item: String,
    pub failure: CallFailure,
    /// What the plugin logged during the call, the last lines of it. A panic's message is among them.
    pub log: Vec<LogMessage>,
    /// The folder in which the call is kept ([`crate::kept`]), where it is.
    pub kept: Option<Box<Path>>,
}

impl CallError {
    /// As many of the last lines of the log as an error shows.
    const SHOWN: usize = 5;

    /// What it logged last, a line each.
    pub fn logged(&self) -> impl Iterator<Item = String> {
        let shown = &self.log[self.log.len().saturating_sub(Self::SHOWN)..];
        shown.iter().map(|message| format!("it logged: {}: {}", message.level, indented(&message.text)))
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { plugin, stage, item, failure, .. } = self;
        write!(formatter, "{} failed to {stage}", plugin.title())?;
        if !item.is_empty() {
            write!(formatter, " {item}")?;
        }
        write!(formatter, ": {failure}")?;
        self.logged().try_for_each(|line| write!(formatter, "\n  {line}"))?;
        match &self.kept {
            Some(folder) => {
                write!(formatter, "\n  to make the call again: netquarry plugin replay {}", folder.display())
            }
            None => Ok(()),
        }
    }
}

impl std::error::Error for CallError {}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CallFailure {
    /// The plugin itself says so, in its own words.
    #[error("{}{}", .why.introduction(), indented(.message))]
    Refused { why: Refusal, message: String },
    #[error("it trapped: {0}")]
    Trap(String),
    /// What it passed to the host, or where, means nothing.
    #[error("it breaks the rules of the component model: {0}")]
    Breach(String),
    /// In a replay: the call that was kept has no answer to what it asks.
    #[error("{0}")]
    Unanswered(String),
    /// It called a function of the host with what the contract does not allow.
    #[error("it misuses a function of the host: {0}")]
    Misuse(String),
    #[error("it used up its {fuel} units of fuel (an endless loop, or more work than the limit allows)")]
    Fuel { fuel: u64 },
    #[error("it was stopped after {} seconds", .deadline.as_secs_f64())]
    Deadline { deadline: Duration },
    #[error("it wanted {wanted} bytes of memory, and may have {limit}")]
    Memory { wanted: usize, limit: usize },
    #[error("it passed more than {limit} bytes to the host at once")]
    Transfer { limit: usize },
    #[error("it logged more than {limit} messages")]
    Log { limit: usize },
    /// What came back breaks the contract.
    #[error("its answer is not acceptable: {0}")]
    Answer(String),
}

/// In what way a call fails: the same for equal causes, whatever the numbers and the words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    Refused,
    Trap,
    OutOfFuel,
    OutOfTime,
    OutOfMemory,
    TooMuchData,
    TooManyMessages,
    MisusedHost,
    MalformedValue,
    MalformedResult,
    Unanswered,
}

impl fmt::Display for FailureClass {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Refused => "a refusal",
            Self::Trap => "a trap",
            Self::OutOfFuel => "out of fuel",
            Self::OutOfTime => "out of time",
            Self::OutOfMemory => "out of memory",
            Self::TooMuchData => "too much data",
            Self::TooManyMessages => "too many messages",
            Self::MisusedHost => "a misuse of the host",
            Self::MalformedValue => "a malformed value",
            Self::MalformedResult => "a malformed result",
            Self::Unanswered => "a question without an answer",
        })
    }
}

impl CallFailure {
    pub fn class(&self) -> FailureClass {
        match self {
            Self::Refused { .. } => FailureClass::Refused,
            Self::Trap(_) => FailureClass::Trap,
            Self::Breach(_) => FailureClass::MalformedValue,
            Self::Unanswered(_) => FailureClass::Unanswered,
            Self::Misuse(_) => FailureClass::MisusedHost,
            Self::Fuel { .. } => FailureClass::OutOfFuel,
            Self::Deadline { .. } => FailureClass::OutOfTime,
            Self::Memory { .. } => FailureClass::OutOfMemory,
            Self::Transfer { .. } => FailureClass::TooMuchData,
            Self::Log { .. } => FailureClass::TooManyMessages,
            Self::Answer(_) => FailureClass::MalformedResult,
        }
    }
}

/// What kind of reason a plugin has to give no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// What it was given breaks the contract, or means nothing to it.
    Input,
    /// What it was given is beyond what it does.
    Unsupported,
    /// A function of the host refused what it needs.
    Host,
    Other,
}

impl Refusal {
    /// What stands before the plugin's own words.
    fn introduction(self) -> &'static str {
        match self {
            Self::Input => "it does not understand what it was given: ",
            Self::Unsupported => "that is beyond what it does: ",
            Self::Host => "the host refused what it needs: ",
            Self::Other => "",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    Debug,
    Info,
    Warning,
    Error,
}

impl fmt::Display for LogLevel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogMessage {
    pub level: LogLevel,
    pub text: String,
}

/// A mistake of the plugin's in a call of a function of the host; the call traps.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Misuse(pub(crate) String);

/// What a plugin asks in a replay, and did not ask before; the call ends there.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Unanswered(pub(crate) String);

/// Whether a character stands on its line and does nothing else: it does not move the cursor, colour what follows, begin
/// a line or turn the direction of writing.
pub(crate) fn is_legible(character: char) -> bool {
    let is_mark =
        matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    !is_mark && !character.is_control()
}

/// A text of somebody else's, such as a plugin, as messages show it: at most so many bytes, of which all but line breaks and
/// tabs is plain.
pub fn legible(text: &str, most: usize) -> String {
    let mut shown = String::new();
    for character in text.chars() {
        let before = shown.len();
        if matches!(character, '\n' | '\t') || is_legible(character) {
            shown.push(character);
        } else {
            shown.extend(character.escape_unicode());
        }
        if shown.len() > most {
            shown.truncate(before);
            break;
        }
    }
    shown
}

/// The beginning of a text of a plugin's, in quotation marks and on one line.
pub(crate) fn quoted(text: &str) -> String {
    const SHOWN: usize = 80;
    let beginning = &text[..text.floor_char_boundary(SHOWN)];
    if beginning.len() == text.len() {
        format!("{text:?}")
    } else {
        format!("{beginning:?} and {} bytes more", text.len() - beginning.len())
    }
}

/// With the lines behind the first one set in, so that none of them looks like a message of the host's.
fn indented(text: &str) -> String {
    text.trim_end().replace('\n', "\n    ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_a_plugin_is_told_from_the_text_around_it() {
        assert_eq!(legible("a\u{1b}[31mb\tc\nd\u{202e}", 100), "a\\u{1b}[31mb\tc\nd\\u{202e}");
        assert_eq!(legible("äöü", 3), "ä");
        assert_eq!(legible("\0\0\0", 11), "\\u{0}\\u{0}");
        assert_eq!(indented("one\ntwo\n"), "one\n    two");
        assert_eq!(quoted("a\n"), "\"a\\n\"");
        assert_eq!(quoted(&"ä".repeat(50)), format!("\"{}\" and 20 bytes more", "ä".repeat(40)));
    }
}
