//! From the errors of the libraries to what a person reads: what happened, where, and what to do.

use std::error::Error;
use std::fmt;

use netquarry_corpus::corpus::UnknownSource;
use netquarry_corpus::failure::FetchError;
use netquarry_corpus::load::CorpusError;
use netquarry_corpus::snapshot::ReadError;
use netquarry_plugin::cases::CaseError;
use netquarry_plugin::kept::KeptError;
use netquarry_plugin::{CallError, ConfigureError, HostError, LoadError, Permission, Right, Ungranted};
use netquarry_store::StoreError;

use crate::environment::EnvironmentError;
use crate::problem::Problem;
use crate::validate::ValidateError;

/// The error's own words, begun with a capital letter where they begin with a word, and the errors behind it.
fn told(error: &dyn Error) -> Problem {
    let text = error.to_string();
    let first_word = text.split(' ').next().unwrap_or("");
    // Anything else is the name of a file or of a source, which is not ours to change.
    let is_word = !first_word.is_empty() && first_word.chars().all(|letter| letter.is_ascii_lowercase());
    let sentence = if is_word { text[..1].to_uppercase() + &text[1..] } else { text };
    match Cause::behind(error) {
        Some(cause) => Problem::new(sentence).because(cause),
        None => Problem::new(sentence),
    }
}

/// The words of an error and of those behind it, innermost last.
#[derive(Debug)]
struct Cause {
    words: String,
    behind: Option<Box<Cause>>,
}

impl Cause {
    fn behind(error: &dyn Error) -> Option<Self> {
        let cause = error.source()?;
        Some(Self { words: cause.to_string(), behind: Self::behind(cause).map(Box::new) })
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.words)
    }
}

impl Error for Cause {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.behind.as_deref().map(|cause| cause as &(dyn Error + 'static))
    }
}

impl From<KeptError> for Problem {
    fn from(error: KeptError) -> Self {
        match error {
            KeptError::Configure(error) => error.into(),
            error => told(&error).help(error.hint()),
        }
    }
}

impl From<Ungranted> for Problem {
    fn from(error: Ungranted) -> Self {
        let help = format!("if you want that, write into netquarry.toml: {}", grants(&error));
        told(&error).help(help)
    }
}

/// As they stand in the configuration file.
fn grants(Ungranted { plugin, missing }: &Ungranted) -> String {
    let globs = missing.iter().map(|Permission { right: Right::ReadFiles(glob), .. }| glob.as_str());
    let globs: Vec<String> = globs.map(|glob| toml::Value::from(glob).to_string()).collect();
    format!("[grants.{}] read-files = [{}]", plugin.name, globs.join(", "))
}

impl From<CorpusError> for Problem {
    fn from(error: CorpusError) -> Self {
        told(&error).help(error.hint())
    }
}

impl From<UnknownSource> for Problem {
    fn from(error: UnknownSource) -> Self {
        told(&error)
            .help("`--source NAME=PATH` and [sources] in netquarry.toml take the name of a source of the corpus")
    }
}

impl From<&FetchError> for Problem {
    fn from(error: &FetchError) -> Self {
        Self::new(format!("Cannot fetch the source `{}`", error.source_name))
            .because(error.failure.to_string())
            .help(error.hint())
    }
}

impl From<ReadError> for Problem {
    fn from(error: ReadError) -> Self {
        told(&error).help(error.hint())
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        told(&error).help(error.hint())
    }
}

impl From<EnvironmentError> for Problem {
    fn from(error: EnvironmentError) -> Self {
        match error {
            EnvironmentError::Interrupted => Self::interrupted(),
            error => told(&error).help(error.hint()),
        }
    }
}

impl From<ValidateError> for Problem {
    fn from(error: ValidateError) -> Self {
        told(&error).help(error.hint())
    }
}

impl From<HostError> for Problem {
    fn from(error: HostError) -> Self {
        told(&error)
            .help("plugins need a machine that Wasmtime compiles for: x86-64, AArch64, s390x or RISC-V, 64 bits")
    }
}

impl From<LoadError> for Problem {
    fn from(error: LoadError) -> Self {
        told(&error).help(error.hint())
    }
}

/// A component that is no plugin; `whence` says where it is from, in words that follow "the plugin".
pub(crate) fn unusable_plugin(whence: &str, error: &LoadError) -> Problem {
    Problem::new(format!("The plugin {whence} cannot be used")).because(error.to_string()).help(error.hint())
}

impl From<ConfigureError> for Problem {
    fn from(error: ConfigureError) -> Self {
        let help = "[plugins] in netquarry.toml orders plugins by their kind, [plugin.NAME] has the options of one";
        let ConfigureError::Refused { plugin, pointer, message } = &error else {
            return told(&error).help(help);
        };
        let option = pointer.trim_start_matches('/');
        let of = if option.is_empty() { String::new() } else { format!(" `{option}`") };
        Self::new(format!("The plugin {} {} does not accept its option{of}", plugin.name, plugin.version))
            .because(without_place(message).to_owned())
            .help(format!(
                "[plugin.{}] in netquarry.toml has its options; `netquarry plugin list` names the plugins",
                plugin.name
            ))
    }
}

macro_rules! as_told {
    ($($error:ty),+ $(,)?) => {
        $(impl From<$error> for Problem {
            /// These say themselves what to do.
            fn from(error: $error) -> Self {
                told(&error)
            }
        })+
    };
}

as_told!(
    netquarry_plugin::toolchain::ToolchainError,
    netquarry_registry::catalog::CatalogError,
    netquarry_registry::fetch::FetchError,
    netquarry_registry::lock::LockError,
    netquarry_registry::publish::PublishError,
    netquarry_registry::resolve::ResolveError,
    netquarry_registry::settings::SettingsError,
    netquarry_registry::signing::SignError,
    netquarry_registry::vendor::VendorError,
);

impl From<CallError> for Problem {
    fn from(error: CallError) -> Self {
        Self::from(&error)
    }
}

impl From<CaseError> for Problem {
    fn from(error: CaseError) -> Self {
        match error {
            CaseError::Configure(error) => error.into(),
            error => Self::new("A case cannot be run")
                .because(error)
                .help("`netquarry plugin schema KIND` prints what cases of a kind of plugin look like"),
        }
    }
}

impl From<&CallError> for Problem {
    fn from(error: &CallError) -> Self {
        let item = if error.item.is_empty() { String::new() } else { format!(" {}", error.item) };
        let cause: Vec<String> = std::iter::once(error.failure.to_string()).chain(error.logged()).collect();
        let plugin = &error.plugin;
        let again =
            error.kept.as_ref().map(|folder| format!("; it is kept: netquarry plugin replay {}", folder.display()));
        let digest = &plugin.digest;
        Self::new(format!("The plugin {} {} failed to {}{item}", plugin.name, plugin.version, error.stage))
            .because(cause.join("\n"))
            .help(format!(
                "the run goes on without this answer; the plugin is sha256:{digest}{}",
                again.unwrap_or_default()
            ))
    }
}

/// A message of the JSON parser without its place, which is one in a text that nobody wrote.
fn without_place(message: &str) -> &str {
    message.rsplit_once(" at line ").map_or(message, |(words, _)| words)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::problem::render;

    #[test]
    fn every_cause_is_told() {
        let innermost = std::io::Error::other("the cable is out");
        let between = HostError::Watchdog(innermost);
        let error = StoreError::Folder { path: PathBuf::from("cache"), source: std::io::Error::other(between) };
        insta::assert_snapshot!(render(&Problem::from(error), false, Some(100)));
    }
}
