//! The command line.

mod commands;
mod examples;
mod export;
mod pipeline;
mod plugin;
mod register;

use std::path::PathBuf;

use clap::builder::FalseyValueParser;
use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, Parser};

pub use commands::{
    BenchArguments, Command, ConfigCommand, CorpusCommand, DedupCommand, DedupExplainArguments, DedupRunArguments,
    DedupSweepArguments, EnvArguments, EnvCommand, EnvLockArguments, ExtractArguments, ReportCommand, SWEPT,
    ShowArguments, StageArguments, ValidateArguments,
};
pub use export::{DatasetArguments, ExportCommand, LibraryInput, SbomArguments, TableArguments, VerifyArguments};
pub use pipeline::{CorpusArguments, IndexChoice, LevelChoice, PipelineArguments, PluginOption, SourceOverride};
pub use plugin::{
    KindName, PluginAddArguments, PluginBuildArguments, PluginCheckArguments, PluginCommand, PluginDiffArguments,
    PluginInitArguments, PluginKeygenArguments, PluginNewArguments, PluginPackArguments, PluginPublishArguments,
    PluginReplayArguments, PluginTestArguments, PluginUpdateArguments, PluginVerifyArguments, PluginYankArguments,
};
pub use register::RegisterArguments;

use crate::console::{ColorChoice, Format};

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

const EXAMPLES: &str = "\
Examples:
  netquarry run                                    Make a library from timm and torchvision
  netquarry run --corpus paper-pypi --out library  Make one from what PyPI has of the paper's repositories
  netquarry extract DropPath                       Lift out one block
  netquarry show timm.layers.drop.DropPath         Look at its code, closure, verdict and provenance

Exit status: 0 done; 1 done, but blocks stayed below the gate that was asked for; 2 could not do it, or not all
of it; 130 interrupted.";

/// Turns PyTorch repositories into a library of self-contained, validated neural-network blocks.
#[derive(Debug, Parser)]
#[command(name = "netquarry", version, styles = STYLES, after_help = EXAMPLES, max_term_width = 110)]
pub struct Arguments {
    #[command(flatten)]
    pub global: GlobalArguments,

    #[command(subcommand)]
    pub command: Command,
}

/// What every command understands.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub struct GlobalArguments {
    /// The form of what is printed on standard output.
    #[arg(long, global = true, value_enum, default_value_t)]
    pub format: Format,

    /// Print errors, and of commands that show something what they show.
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    pub quiet: bool,

    /// Say more on standard error; twice for the log of every stage.
    #[arg(long, short, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,

    #[arg(long, global = true, value_enum, default_value_t, help = "When to use colours")]
    pub color: ColorChoice,

    /// Threads for parsing, resolving and assembling [default: one per core].
    #[arg(long, global = true, value_name = "N", env = "NETQUARRY_THREADS", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,

    /// Where sources, the index, compiled plugins and verdicts are kept between runs [default: netquarry in the user's
    /// cache folder].
    #[arg(long, global = true, value_name = "DIR", env = "NETQUARRY_CACHE")]
    pub cache_dir: Option<PathBuf>,

    /// The configuration file [default: netquarry.toml in this folder or one above].
    #[arg(long, global = true, value_name = "FILE", env = "NETQUARRY_CONFIG")]
    pub config: Option<PathBuf>,

    /// Let netquarry.lock be as it is: where it does not have the plugins that netquarry.toml orders, all of them and no
    /// others, no plugin runs.
    #[arg(long, global = true, env = "NETQUARRY_LOCKED", value_parser = FalseyValueParser::new())]
    pub locked: bool,

    /// Ignore configuration files.
    #[arg(long, global = true, conflicts_with = "config")]
    pub no_config: bool,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Arguments;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_command_has_examples() {
        fn check(command: &clap::Command) {
            let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(examples.contains("Examples:\n  netquarry "), "{} has no examples", command.get_name());
            command.get_subcommands().for_each(check);
        }
        check(&Arguments::command());
    }
}
