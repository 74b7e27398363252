//! The options of every command that runs stages of the pipeline.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum, ValueHint};
use netquarry_core::license::policy::ListedLicense;
use netquarry_core::verdict::Level;

/// What decides which plugins there are to list.
#[derive(Clone, Debug, Default, Args)]
pub struct CorpusArguments {
    /// A shipped corpus (see `netquarry corpus list`) or a JSON file [default: quickstart].
    #[arg(long, value_name = "NAME|FILE", env = "NETQUARRY_CORPUS")]
    pub corpus: Option<String>,

    /// The discovery rule: a first-party plugin or the path of a component [default: what the corpus asks for]; may be
    /// given several times, and then the first that takes a class has it.
    #[arg(long = "discover", value_name = "PLUGIN", value_delimiter = ',')]
    pub discover: Vec<String>,

    /// What describes the blocks of the library: a first-party plugin or the path of a component [default:
    /// emit-neutral-spec]; may be given several times.
    #[arg(long = "emit", value_name = "PLUGIN", value_delimiter = ',')]
    pub emit: Vec<String>,
}

#[derive(Clone, Debug, Default, Args)]
pub struct PipelineArguments {
    #[command(flatten)]
    pub corpus: CorpusArguments,

    /// The folder of the library [default: out].
    #[arg(long, short, value_name = "DIR", env = "NETQUARRY_OUT")]
    pub out: Option<PathBuf>,

    /// Read a local folder in the place of a corpus source; may be given several times.
    #[arg(long = "source", value_name = "NAME=PATH")]
    pub sources: Vec<SourceOverride>,

    /// Keep importing a package instead of inlining what blocks need of it; may be given several times.
    #[arg(long = "keep-import", value_name = "PACKAGE", value_delimiter = ',')]
    pub keep_imports: Vec<String>,

    /// The highest level of validation that is tried [default: forward].
    #[arg(long, value_enum, value_name = "LEVEL")]
    pub level: Option<LevelChoice>,

    /// The level that a block must reach to be promoted into the library [default: execute]. When it is asked for, here
    /// or in the configuration, blocks below it make the exit status 1.
    #[arg(long, value_enum, value_name = "LEVEL")]
    pub gate: Option<LevelChoice>,

    /// Take blocks of a licence, whatever `[licenses]` of netquarry.toml says about it: an SPDX identifier, or what the
    /// manifest has in its place; may be given several times.
    #[arg(long = "allow-license", value_name = "ID", value_delimiter = ',')]
    pub allowed_licenses: Vec<ListedLicense>,

    /// A Python interpreter that has torch (or NETQUARRY_PYTHON), instead of an environment of NetQuarry's own.
    #[arg(long, value_name = "FILE")]
    pub python: Option<PathBuf>,

    /// Blocks that are validated at the same time [default: one per core].
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,

    /// Give an option of a plugin a value, over the configuration: `dedup-lexical.threshold=0.85`; may be given several times.
    #[arg(long = "set", value_name = "PLUGIN.OPTION=VALUE")]
    pub plugin_options: Vec<PluginOption>,

    /// Keep calls of plugins that fail in this folder, each with all that it takes to make it again: `netquarry plugin replay`.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub keep_failed_calls: Option<PathBuf>,

    /// Seconds that the validation of one block may take; its processor time is limited to a quarter of them, and one second
    /// at least [default: 120].
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    pub timeout: Option<u32>,

    /// What to do about files that were indexed before [default: missing].
    #[arg(long, value_enum, value_name = "POLICY")]
    pub index: Option<IndexChoice>,

    /// Delete the index and make it anew, for one that is damaged. Verdicts are lost with it.
    #[arg(long)]
    pub rebuild_index: bool,

    /// Install nothing that bundles require: they have what the environment has.
    #[arg(long)]
    pub no_install: bool,

    /// Run foreign code even where the machine has no Landlock or no seccomp to confine it.
    #[arg(long)]
    pub allow_weak_sandbox: bool,

    /// Use no network: sources have to be in the cache, and what bundles require.
    #[arg(long)]
    pub offline: bool,

    /// Validate again what failed in an earlier run, whatever its cached verdict says.
    #[arg(long)]
    pub retry_failed: bool,
}

/// `NAME=PATH` of `--source`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceOverride {
    pub name: String,
    pub path: PathBuf,
}

impl FromStr for SourceOverride {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('=') {
            Some((name, path)) if !name.is_empty() && !path.is_empty() => {
                Ok(Self { name: name.to_owned(), path: PathBuf::from(path) })
            }
            _ => Err("expected NAME=PATH, as in timm=../pytorch-image-models"),
        }
    }
}

/// `PLUGIN.OPTION=VALUE` of `--set`. The value is one of TOML, or else a string.
#[derive(Clone, Debug, PartialEq)]
pub struct PluginOption {
    pub plugin: String,
    pub option: String,
    pub value: serde_json::Value,
}

impl FromStr for PluginOption {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.split_once('=').and_then(|(key, value)| Some((key.split_once('.')?, value)));
        let Some(((plugin, option), value)) =
            parts.filter(|((plugin, option), _)| !plugin.is_empty() && !option.is_empty())
        else {
            return Err("expected PLUGIN.OPTION=VALUE, as in dedup-lexical.threshold=0.85");
        };
        let parsed = toml::from_str::<toml::Table>(&format!("value = {value}")).ok();
        let parsed = parsed.and_then(|mut table| serde_json::to_value(table.remove("value")?).ok());
        let value = parsed.unwrap_or_else(|| value.into());
        Ok(Self { plugin: plugin.to_owned(), option: option.to_owned(), value })
    }
}

#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum IndexChoice {
    /// Parse files that the index does not have yet.
    #[default]
    Missing,
    /// Parse every file anew.
    Force,
    /// Parse nothing: files that the index does not have are left out.
    Skip,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LevelChoice {
    Parse,
    Compile,
    Execute,
    Construct,
    Forward,
    Backward,
    Parity,
}

impl From<LevelChoice> for Level {
    fn from(choice: LevelChoice) -> Self {
        match choice {
            LevelChoice::Parse => Self::Parse,
            LevelChoice::Compile => Self::Compile,
            LevelChoice::Execute => Self::Execute,
            LevelChoice::Construct => Self::Construct,
            LevelChoice::Forward => Self::Forward,
            LevelChoice::Backward => Self::Backward,
            LevelChoice::Parity => Self::Parity,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_override_needs_both_halves() {
        let parsed: SourceOverride = "timm=../timm=1".parse().expect("only the first sign divides");
        assert_eq!((parsed.name.as_str(), parsed.path.to_str()), ("timm", Some("../timm=1")));
        assert!("timm".parse::<SourceOverride>().is_err());
        assert!("=x".parse::<SourceOverride>().is_err());
    }
}
