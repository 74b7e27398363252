//! The commands and their own arguments.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use super::examples;
use super::export::{ExportCommand, VerifyArguments};
use super::pipeline::{CorpusArguments, PipelineArguments, PluginOption, SourceOverride};
use super::plugin::PluginCommand;
use super::register::RegisterArguments;
use crate::curation::{Layout, Upweight};

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Do everything: fetch, index, discover, resolve, assemble, validate, deduplicate and emit.
    #[command(after_help = examples::RUN)]
    Run(StageArguments),
    /// Fetch the sources of a corpus.
    #[command(after_help = examples::FETCH)]
    Fetch(StageArguments),
    /// Fetch and index: definitions, imports, scopes and references of every file.
    #[command(after_help = examples::INDEX)]
    Index(StageArguments),
    /// Run the stages up to discovery: the candidate blocks.
    #[command(after_help = examples::DISCOVER)]
    Discover(StageArguments),
    /// Run the stages up to resolution: the closure of every candidate.
    #[command(after_help = examples::RESOLVE)]
    Resolve(StageArguments),
    /// Run the stages up to assembly: a self-contained text per candidate, listed and not written.
    #[command(after_help = examples::ASSEMBLE)]
    Assemble(StageArguments),
    /// Validate the files that are named; or run the stages up to the validation of the bundles.
    Validate(ValidateArguments),
    /// Run the stages up to curation: the duplicates among the blocks that reached the gate.
    #[command(after_help = examples::CURATE)]
    Curate(StageArguments),
    /// Do everything, as `run`, and list the files of the library.
    #[command(after_help = examples::EMIT)]
    Emit(StageArguments),
    /// Lift single blocks out, by name, and add them to the library.
    Extract(ExtractArguments),
    /// Show a block of the library: code, closure, verdict, provenance.
    Show(ShowArguments),
    /// Reports about a library: what to mend next.
    #[command(subcommand, after_help = examples::REPORT)]
    Report(ReportCommand),
    /// Measure the quality of a library against the sources that it was made of.
    Audit(AuditArguments),
    /// Hand a library on: as a table, a dataset, a bill of materials.
    #[command(subcommand, after_help = examples::EXPORT)]
    Export(ExportCommand),
    /// Hold an implementation that was written from a spec to it, and make a model of it.
    Register(RegisterArguments),
    /// Check a library, or what was exported of it, against its own records and digests.
    Verify(VerifyArguments),
    /// Deduplicate a folder of models.
    #[command(subcommand, after_help = examples::DEDUP)]
    Dedup(DedupCommand),
    /// The corpora: shipped ones, one in full, the schema of the files.
    #[command(subcommand, after_help = examples::CORPUS)]
    Corpus(CorpusCommand),
    /// Write, build, test and compare plugins, and list those that a run uses.
    #[command(subcommand, after_help = examples::PLUGIN)]
    Plugin(PluginCommand),
    /// Check `netquarry.toml`, or print what may stand in it.
    #[command(subcommand, after_help = examples::CONFIG)]
    Config(ConfigCommand),
    /// The Python environment that blocks are validated in.
    Env(EnvArguments),
    /// Measure this machine: parsing, resolving, assembling, validation, the plugin border.
    Bench(BenchArguments),
    /// Print completions for a shell.
    #[command(after_help = examples::COMPLETIONS)]
    Completions {
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, Args)]
pub struct StageArguments {
    #[command(flatten)]
    pub pipeline: PipelineArguments,
}

/// Commands that go on with a library take its corpus, where nobody names one.
const CORPUS_OF_LIBRARY: &str =
    "A shipped corpus (see `netquarry corpus list`) or a JSON file [default: the library's, else quickstart]";
const CORPUS_OF_FILES: &str = "A shipped corpus (see `netquarry corpus list`) or a JSON file [default: for files, that of \
                               the library that they are from; else quickstart]";

const VALIDATE_EXAMPLES: &str = "\
Examples:
  netquarry validate                               Validate every bundle of the corpus
  netquarry validate out/blocks/DropPath.py        Validate one file
  netquarry validate my/model.py                   Every module of a file, or the one of exactly its name
  netquarry validate my/model.py:Encoder           One class of it
  netquarry validate my/*.py --requirements my/requirements.txt --timeout 300
  netquarry validate my/*.py --level execute --format json
  netquarry validate my/*.py --level backward --report verdicts.html

Exit status: 0 all reached --level (or --gate, where one is given); 1 at least one did not; 2 could not do it.";

#[derive(Debug, Args)]
#[command(after_help = VALIDATE_EXAMPLES, mut_arg("corpus", |corpus| corpus.help(CORPUS_OF_FILES)))]
pub struct ValidateArguments {
    /// Python files, or FILE:CLASS for one class; without any, the bundles of the corpus.
    #[arg(value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,

    /// Install what a file lists, one requirement a line, for the files that are named and are no bundles of a library, whose
    /// records say what they need; may be given several times.
    #[arg(long, value_name = "FILE", requires = "files", conflicts_with = "no_install", value_hint = ValueHint::FilePath)]
    pub requirements: Vec<PathBuf>,

    /// Write a page about the files that are named: how far each class came, with what arguments, and why no further.
    #[arg(long, value_name = "FILE.html", requires = "files", value_hint = ValueHint::FilePath)]
    pub report: Option<PathBuf>,

    #[command(flatten)]
    pub pipeline: PipelineArguments,
}

const EXTRACT_EXAMPLES: &str = "\
Examples:
  netquarry extract DropPath
  netquarry extract timm.layers.drop.DropPath torchvision:torchvision.ops.misc.MLP
  netquarry extract Bottleneck --all               Every block of that name
  netquarry extract --from-json names.json --limit 100 --start-from DropPath

Exit status: 0 done; 1 done, but a block that was named stayed below the gate; 2 could not do it. A bare name that \
several blocks bear is answered with all of them, ranked, and exit status 2.

Blocks are added to what the folder holds. A later `netquarry run` into the same folder makes the library anew and says \
which of them it does not keep; --out names a folder of their own.";

#[derive(Debug, Args)]
#[command(after_help = EXTRACT_EXAMPLES, mut_arg("corpus", |corpus| corpus.help(CORPUS_OF_LIBRARY)))]
pub struct ExtractArguments {
    /// Names of blocks: `DropPath`, `drop.DropPath`, `timm.layers.drop.DropPath` or `timm:timm.layers.drop.DropPath`.
    #[arg(required_unless_present_any = ["from_json", "retry_failed"])]
    pub names: Vec<String>,

    /// A JSON file with a list of names.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub from_json: Option<PathBuf>,

    /// Take all blocks that bear an ambiguous name.
    #[arg(long)]
    pub all: bool,

    /// Take the one that is ranked first of the blocks that bear an ambiguous name.
    #[arg(long, conflicts_with = "all")]
    pub first: bool,

    /// Stop after so many names.
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,

    /// Leave out the names before this one.
    #[arg(long, value_name = "NAME")]
    pub start_from: Option<String>,

    #[command(flatten)]
    pub pipeline: PipelineArguments,
}

#[derive(Debug, Args)]
#[command(after_help = examples::SHOW)]
pub struct ShowArguments {
    /// The name of a block, as `extract` takes it, or its file in a library, which then goes before --out.
    pub block: String,

    /// The folder of the library [default: out].
    #[arg(long, short, value_name = "DIR", env = "NETQUARRY_OUT")]
    pub out: Option<PathBuf>,

    /// Print the code only.
    #[arg(long)]
    pub code: bool,
}

/// The library that a command is about.
#[derive(Debug, Args)]
pub struct LibraryArguments {
    /// The folder of the library [default: out].
    #[arg(value_hint = ValueHint::DirPath)]
    pub library: Option<PathBuf>,

    /// The same, as other commands take it; LIBRARY goes before it.
    #[arg(long, short, value_name = "DIR", env = "NETQUARRY_OUT")]
    pub out: Option<PathBuf>,
}

impl LibraryArguments {
    /// The folder that was asked for.
    pub fn folder(&self) -> Option<&PathBuf> {
        self.library.as_ref().or(self.out.as_ref())
    }
}

const AUDIT_EXAMPLES: &str = "\
Examples:
  netquarry audit                                  The library in out/, beside the corpus that it was made of
  netquarry audit library --corpus paper-pypi
  netquarry audit --format json | jq .resolution.different

Upstream is imported, in confined processes, and every name that a bundle's definitions were found by is looked up
there. The other figures need no Python: the text of definitions to the byte, names left unresolved, the grouping of
imports, and the size.

Exit status: 0 done; 1 a name means something else upstream; 2 could not do it.";

#[derive(Debug, Args)]
#[command(after_help = AUDIT_EXAMPLES)]
pub struct AuditArguments {
    #[command(flatten)]
    pub library: LibraryArguments,

    /// The corpus that the library was made of [default: the library's, else quickstart].
    #[arg(long, value_name = "NAME|FILE", env = "NETQUARRY_CORPUS")]
    pub corpus: Option<String>,

    /// Read a local folder in the place of a corpus source; may be given several times.
    #[arg(long = "source", value_name = "NAME=PATH")]
    pub sources: Vec<SourceOverride>,

    /// A Python interpreter that has torch (or NETQUARRY_PYTHON), instead of an environment of NetQuarry's own.
    #[arg(long, value_name = "FILE")]
    pub python: Option<PathBuf>,

    /// Use no network: sources have to be in the cache.
    #[arg(long)]
    pub offline: bool,
}

impl AuditArguments {
    /// The same as arguments of the pipeline.
    pub fn pipeline(&self) -> PipelineArguments {
        PipelineArguments {
            corpus: CorpusArguments { corpus: self.corpus.clone(), ..CorpusArguments::default() },
            out: self.library.folder().cloned(),
            sources: self.sources.clone(),
            python: self.python.clone(),
            offline: self.offline,
            ..PipelineArguments::default()
        }
    }
}

const FAILURES_EXAMPLES: &str = "\
Examples:
  netquarry report failures                        What stands in the way of the most blocks of out/
  netquarry report failures library --limit 5
  netquarry report failures --format json | jq '.groups[] | [.class, .root, (.blocks | length)]'

Failures that have the same root are one group: the same missing name or module, or the same upstream line. Below an
example stands the chain of definitions by which the block came to need what fails.";

#[derive(Debug, Subcommand)]
pub enum ReportCommand {
    /// Why blocks failed, by what is at the root of it, the most blocks first.
    #[command(after_help = FAILURES_EXAMPLES)]
    Failures(FailuresArguments),
    /// What plugins cost when the library was made: time, fuel, memory, calls of the host.
    #[command(after_help = COSTS_EXAMPLES)]
    Costs(CostsArguments),
}

const COSTS_EXAMPLES: &str = "\
Examples:
  netquarry report costs
  netquarry report costs library --sources
  netquarry report costs --format json";

#[derive(Debug, Args)]
pub struct CostsArguments {
    #[command(flatten)]
    pub library: LibraryArguments,

    /// A line for each source.
    #[arg(long)]
    pub sources: bool,
}

#[derive(Debug, Args)]
pub struct FailuresArguments {
    #[command(flatten)]
    pub library: LibraryArguments,

    /// Groups that are shown to people.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: usize,
}

#[derive(Debug, Subcommand)]
pub enum DedupCommand {
    /// Group near-duplicates and keep one of each group.
    #[command(after_help = examples::DEDUP_RUN)]
    Run(DedupRunArguments),
    /// Compare two models: what is the same in them and what is not, and which strategy would take one for the other.
    #[command(after_help = examples::DEDUP_EXPLAIN)]
    Explain(DedupExplainArguments),
    /// Count what stays at several thresholds.
    #[command(after_help = examples::DEDUP_SWEEP)]
    Sweep(DedupSweepArguments),
}

/// The thresholds that are tried where nobody names others.
pub const SWEPT: [f64; 6] = [0.75, 0.80, 0.85, 0.90, 0.95, 1.00];

#[derive(Debug, Args)]
pub struct DedupSweepArguments {
    /// What `dedup run` reads [default: out].
    #[arg(value_hint = ValueHint::AnyPath, env = "NETQUARRY_OUT")]
    pub input: Option<PathBuf>,

    /// The strategies and their other options: `default`, or `nn-dup`.
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub preset: String,

    /// The thresholds of `dedup-lexical` to try. What its bands do not bring together is not compared at any.
    #[arg(long, value_name = "SIMILARITY,...", value_delimiter = ',', default_values_t = SWEPT)]
    pub lexical: Vec<f64>,

    /// The thresholds of `dedup-structural` to try.
    #[arg(long, value_name = "SIMILARITY,...", value_delimiter = ',', default_values_t = SWEPT)]
    pub structural: Vec<f64>,

    /// Draw it on a page.
    #[arg(long, value_name = "FILE.html", value_hint = ValueHint::FilePath)]
    pub report: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct DedupExplainArguments {
    /// A Python file, or a model of --input by its name or identity.
    #[arg(value_hint = ValueHint::AnyPath)]
    pub first: String,

    /// What it is compared with.
    #[arg(value_hint = ValueHint::AnyPath)]
    pub second: String,

    /// Where models are looked up that are no files: what `dedup run` reads [default: out].
    #[arg(long, value_name = "INPUT", value_hint = ValueHint::AnyPath, env = "NETQUARRY_OUT")]
    pub input: Option<PathBuf>,

    /// The strategies and thresholds: `default`, or `nn-dup`.
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub preset: String,
}

#[derive(Debug, Args)]
pub struct DedupRunArguments {
    /// A library (a folder with manifest.jsonl), a folder of Python files, a database of LEMUR (.db), a wheel of nn-dataset,
    /// or a table (.jsonl, .csv, .tsv, .parquet) with a name (`nn`, `model` or `name`), a code (`nn_code` or `code`) and,
    /// where it is known, an `accuracy` [default: out].
    #[arg(value_hint = ValueHint::AnyPath, env = "NETQUARRY_OUT")]
    pub input: Option<PathBuf>,

    /// The strategies and thresholds: `default`, or `nn-dup` as the reference implementation decides.
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub preset: String,

    /// Take only models whose names begin so, by their letters and digits, whatever their case; with a preset that has
    /// `dedup-rescue` one of each beginning is left. May be given several times.
    #[arg(long = "include", value_name = "PREFIX")]
    pub includes: Vec<String>,

    /// Of equal codes keep one whose name begins so; the first one given counts most [default: --include].
    #[arg(long = "prefer-prefix", value_name = "PREFIX")]
    pub prefer_prefixes: Vec<String>,

    /// Bring back models whose names begin so and that are like none that is left, with a preset that has `dedup-top-up`
    /// [default: those of --include that the preset names; for `nn-dup` FractalNet].
    #[arg(long = "top-up", value_name = "PREFIX")]
    pub top_ups: Vec<String>,

    /// Give an option of a strategy a value, over the configuration and the preset: `dedup-lexical.threshold=0.85`; may be
    /// given several times.
    #[arg(long = "set", value_name = "PLUGIN.OPTION=VALUE")]
    pub plugin_options: Vec<PluginOption>,

    /// Draw models whose names begin so, whatever their case, FACTOR times as often; the first one that fits counts. Writes
    /// `sampling_weights.csv`. May be given several times.
    #[arg(long = "upweight", value_name = "PREFIX:FACTOR", requires = "out")]
    pub upweights: Vec<Upweight>,

    /// Keep what is computed of each model in the cache folder, about 10 kB: when this command comes again, over more models
    /// or with other thresholds, only what is new is computed. Of a library it is always kept.
    #[arg(long)]
    pub incremental: bool,

    /// The strategies in the order in which they are asked: first-party plugins or paths of components, and `...` for those of
    /// the preset [default: ...]; may be given several times.
    #[arg(long = "dedup", value_name = "PLUGIN", value_delimiter = ',')]
    pub strategies: Vec<String>,

    /// Make the library what it would be with these decisions. Without it they are shown only.
    #[arg(long, conflicts_with_all = ["out", "includes"])]
    pub apply: bool,

    /// Where the decisions, the kept files and the report are written. Without it the duplicates are printed only, and of a
    /// library without --include what would change in it.
    #[arg(long, short, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// How these are laid out: `netquarry`, or `nn-dup` as ChatPrep and NN-GPT read them [default: that of the preset].
    #[arg(long, value_enum, requires = "out", hide_possible_values = true)]
    pub layout: Option<Layout>,
}

#[derive(Debug, Subcommand)]
pub enum CorpusCommand {
    /// List the shipped corpora.
    #[command(after_help = examples::CORPUS)]
    List,
    /// Print a corpus, with every default filled in.
    #[command(after_help = examples::CORPUS)]
    Show {
        /// A shipped corpus or a JSON file.
        #[arg(default_value = "quickstart")]
        corpus: String,
    },
    /// Print the JSON Schema of corpus files.
    #[command(after_help = examples::CORPUS)]
    Schema,
}

#[derive(Clone, Copy, Debug, Subcommand)]
pub enum ConfigCommand {
    /// Read netquarry.toml, load the plugins that it orders, and have each accept its options.
    #[command(after_help = examples::CONFIG_CHECK)]
    Check,
    /// Print the JSON Schema of netquarry.toml, for editors.
    #[command(after_help = examples::CONFIG_SCHEMA)]
    Schema,
}

#[derive(Debug, Args)]
#[command(after_help = examples::ENV)]
pub struct EnvArguments {
    #[command(subcommand)]
    pub command: Option<EnvCommand>,

    /// A Python interpreter that has torch (or NETQUARRY_PYTHON), instead of an environment of NetQuarry's own.
    #[arg(long, global = true, value_name = "FILE")]
    pub python: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum EnvCommand {
    /// Install torch and what else is needed, if it is not there yet.
    #[command(after_help = examples::ENV)]
    Prepare,
    /// Write what the verdict on a block was reached with, as a file of pip's requirements.
    #[command(after_help = examples::ENV_LOCK)]
    Lock(EnvLockArguments),
}

#[derive(Debug, Args)]
pub struct EnvLockArguments {
    /// The name of a block, as `extract` takes it, or its file in a library.
    pub block: String,

    /// The folder of the library [default: out].
    #[arg(long, value_name = "DIR", env = "NETQUARRY_OUT", value_hint = ValueHint::DirPath)]
    pub library: Option<PathBuf>,

    /// Write it there instead of printing it.
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
}

const BENCH_EXAMPLES: &str = "\
Examples:
  netquarry bench --without-python                 The stages up to the bundles, in half a minute
  netquarry bench --level execute                  Also a whole run, validated to level 3
  netquarry bench --corpus paper-pypi --format json";

#[derive(Debug, Args)]
#[command(after_help = BENCH_EXAMPLES)]
pub struct BenchArguments {
    /// Times that each stage is repeated; the median is printed.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    pub repeat: u16,

    /// Leave out the whole run, which needs a Python environment with torch.
    #[arg(long)]
    pub without_python: bool,

    #[command(flatten)]
    pub pipeline: PipelineArguments,
}
