//! The commands: each turns its arguments into settings, asks the driver, and prints what came out.

mod audit;
mod bench;
mod completions;
mod config;
mod corpus;
mod costs;
mod dedup;
mod environment;
mod export;
mod extract;
mod listing;
mod plugin;
mod register;
mod report;
mod run;
mod show;
mod stage;
mod tree;
mod validate;
mod verify;

use std::path::{Path, PathBuf};

use tracing_subscriber::EnvFilter;

use crate::arguments::{
    Arguments, Command, CorpusArguments, EnvArguments, EnvCommand, GlobalArguments, PipelineArguments, PluginCommand,
    ReportCommand, StageArguments,
};
use crate::configuration::{ConfigurationFile, DEFAULT_OUT, Settings, working_folder};
use crate::console::{Console, Verbosity};
use crate::course::Stage;
use crate::driver::fetch;
use crate::interrupt;
use crate::library::costs::FailedCalls;
use crate::library::run_record::{CorpusOrigin, RunRecord};
use crate::problem::Problem;

/// Chooses what of the log is shown, as `tracing_subscriber` reads it: `netquarry=debug`.
const LOG_VARIABLE: &str = "NETQUARRY_LOG";

/// How a command that did what it was asked ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Done,
    /// Done, and something did not come up to what the user asked for.
    Findings,
    /// A part of what was asked could not be done; it has been said which.
    Incomplete,
}

impl Ending {
    fn exit_status(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Findings => 1,
            Self::Incomplete => 2,
        }
    }
}

/// Runs a command to its exit status. What went wrong has been said then.
pub fn main(arguments: Arguments) -> u8 {
    let global = &arguments.global;
    let verbosity = if global.quiet { Verbosity::Quiet } else { Verbosity::Normal };
    let console = Console::new(global.format, verbosity, global.color);
    listen_to_logs(global, &console);
    match interrupt::listen(&console).and_then(|()| perform(&arguments, &console)) {
        Ok(ending) => ending.exit_status(),
        Err(problem) => {
            console.error(&problem);
            problem.exit_status()
        }
    }
}

fn perform(arguments: &Arguments, console: &Console) -> Result<Ending, Problem> {
    let global = &arguments.global;
    let settings = |pipeline: &PipelineArguments| Settings::new(global, pipeline, &configuration(global)?);
    let up_to = |stage: Stage, of: &StageArguments| stage::up_to(stage, &settings(&of.pipeline)?, console);
    match &arguments.command {
        Command::Run(stage) => run::run(&settings(&stage.pipeline)?, console),
        Command::Fetch(arguments) => up_to(Stage::Fetch, arguments),
        Command::Index(arguments) => up_to(Stage::Index, arguments),
        Command::Discover(arguments) => up_to(Stage::Discover, arguments),
        Command::Resolve(arguments) => up_to(Stage::Resolve, arguments),
        Command::Assemble(arguments) => up_to(Stage::Assemble, arguments),
        Command::Validate(validate) => {
            let settings = settings(&validate.pipeline)?;
            match validate.files[..] {
                [] => stage::up_to(Stage::Validate, &settings, console),
                _ => validate::files(validate, &settings, console),
            }
        }
        Command::Curate(arguments) => up_to(Stage::Curate, arguments),
        Command::Emit(stage) => run::emit(&settings(&stage.pipeline)?, console),
        Command::Extract(extract) => {
            let settings = settings(&extract.pipeline)?;
            let settings = as_the_library_was_made(of_library(settings.clone(), &settings.out, console)?)?;
            extract::extract(extract, &settings, console)
        }
        Command::Show(show) => show::show(show, &out_folder(global, show.out.as_ref())?, console),
        Command::Audit(audit) => {
            let settings = settings(&audit.pipeline())?;
            audit::audit(&of_library(settings.clone(), &settings.out, console)?, console)
        }
        Command::Export(export) => export::export(export, &|asked| out_folder(global, asked), console),
        Command::Register(register) => register::register(register, &settings(&register.pipeline())?, console),
        Command::Verify(verify) => verify::verify(verify, &settings(&verify.pipeline())?, console),
        Command::Report(ReportCommand::Failures(asked)) => {
            report::failures(&out_folder(global, asked.library.folder())?, asked.limit, console)
        }
        Command::Report(ReportCommand::Costs(asked)) => {
            costs::costs(&out_folder(global, asked.library.folder())?, asked.sources, console)
        }
        Command::Dedup(dedup) => dedup::dedup(dedup, &settings(&PipelineArguments::default())?, console),
        Command::Corpus(corpus) => corpus::corpus(corpus, console),
        Command::Plugin(command) => {
            let corpus = match command {
                PluginCommand::List(corpus) => corpus.clone(),
                _ => CorpusArguments::default(),
            };
            let pipeline = PipelineArguments { corpus, ..PipelineArguments::default() };
            plugin::plugin(command, &settings(&pipeline)?, console)
        }
        Command::Config(command) => config::config(*command, global, console),
        Command::Env(EnvArguments { command: Some(EnvCommand::Lock(lock)), .. }) => {
            environment::lock(lock, &out_folder(global, lock.library.as_ref())?, console)
        }
        Command::Env(env) => {
            let pipeline = PipelineArguments { python: env.python.clone(), ..PipelineArguments::default() };
            environment::environment(env, &settings(&pipeline)?, console)
        }
        Command::Bench(bench) => bench::bench(bench, &settings(&bench.pipeline)?, console),
        Command::Completions { shell } => completions::print(*shell, console),
    }
}

fn configuration(global: &GlobalArguments) -> Result<ConfigurationFile, Problem> {
    ConfigurationFile::find(global, &working_folder()?)
}

/// The folder of the library, for commands that only read it.
fn out_folder(global: &GlobalArguments, asked: Option<&PathBuf>) -> Result<PathBuf, Problem> {
    if let Some(folder) = asked {
        return Ok(folder.clone());
    }
    let file = configuration(global)?;
    Ok(file.configuration.out.as_deref().map_or_else(|| DEFAULT_OUT.into(), |out| file.absolute(out)))
}

/// The settings of a command that goes on with a library: where nobody asks for a corpus, that of the library.
fn of_library(settings: Settings, library: &Path, console: &Console) -> Result<Settings, Problem> {
    if settings.corpus_was_asked_for {
        return Ok(settings);
    }
    let Some(origin) = CorpusOrigin::of_library(library, &working_folder()?)? else { return Ok(settings) };
    if origin != fetch::origin(&settings)? {
        let replaced = origin.sources.iter().map(|(name, path)| format!(" with {name}={}", path.display()));
        console.status(
            "Using",
            &format!(
                "the corpus {}{} of the library in `{}`",
                origin.corpus,
                replaced.collect::<String>(),
                library.display()
            ),
        );
    }
    let mut sources = origin.sources;
    sources.extend(settings.sources);
    Ok(Settings { corpus: origin.corpus, sources, ..settings })
}

/// The settings of a command that adds to the library in its output folder: where nobody asks for levels, blocks are tried
/// as high as those of the library and pass its gate; where nobody asks for emitters, they are those of the library, for all
/// of it is described anew.
fn as_the_library_was_made(mut settings: Settings) -> Result<Settings, Problem> {
    let manner = match RunRecord::read(&settings.out) {
        // Who names the corpus goes on with a damaged record, as its message says, and says everything else as well.
        Err(_) if settings.corpus_was_asked_for => return Ok(settings),
        found => found?.and_then(|record| record.manner),
    };
    let Some(manner) = manner else { return Ok(settings) };
    if !settings.level_was_asked_for && !settings.gate_was_asked_for {
        (settings.level, settings.gate) = (settings.level.max(manner.level), manner.gate);
    }
    if !settings.emitters_were_asked_for {
        settings.plugins.emit = manner.emitters;
    }
    Ok(settings)
}

/// Calls of plugins that failed make the exit status 2, so they are told however quiet the program is.
fn tell_failed_calls(failed: &[FailedCalls], console: &Console) {
    if failed.is_empty() {
        return;
    }
    let each: Vec<String> = failed.iter().map(ToString::to_string).collect();
    console.error(
        &Problem::new("Not all that plugins were asked for is there")
            .because(each.join("; "))
            .help("--keep-failed-calls DIR keeps such calls, and `netquarry plugin replay` makes one again"),
    );
}

/// The command line without the program's name, for the record.
fn command_line() -> Vec<String> {
    std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned()).collect()
}

/// What `NETQUARRY_LOG` asks for. A value that cannot be understood is told and left aside.
fn asked_filter(console: &Console) -> Option<EnvFilter> {
    let asked = std::env::var_os(LOG_VARIABLE).filter(|value| !value.is_empty())?;
    let filter = asked.to_str().map_or_else(|| Err("it is not UTF-8".to_owned()), parsed_filter);
    filter.map_err(|why| console.caution(&format!("{LOG_VARIABLE} is left aside: {why}"))).ok()
}

fn parsed_filter(text: &str) -> Result<EnvFilter, String> {
    EnvFilter::try_new(text).map_err(|error| error.to_string())
}

/// Sends the log to standard error, between the progress bars. `NETQUARRY_LOG` chooses what of it.
fn listen_to_logs(global: &GlobalArguments, console: &Console) {
    let default = match (global.quiet, global.verbose) {
        (true, _) => "error",
        (false, 0) => "warn",
        (false, 1) => "warn,netquarry=info,netquarry_corpus=info,netquarry_plugin=info,netquarry_store=info",
        (false, _) => "info,netquarry=debug,netquarry_corpus=debug,netquarry_plugin=debug,netquarry_store=debug",
    };
    let filter = asked_filter(console).unwrap_or_else(|| EnvFilter::new(default));
    let writer = console.log_writer();
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(move || writer.clone())
        .with_ansi(console.colors_stderr())
        .without_time()
        .finish();
    // A second call in one process, as in tests, keeps the first subscriber.
    let _ = tracing::subscriber::set_global_default(subscriber);
}
