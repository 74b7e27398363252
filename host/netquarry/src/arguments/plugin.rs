//! The options of `plugin`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, ValueHint};
use netquarry_plugin::Kind;
use netquarry_registry::name::Request;

use super::examples;
use super::pipeline::CorpusArguments;
use crate::authoring::project::Language;

#[derive(Debug, Subcommand)]
pub enum PluginCommand {
    /// Write the files of a new plugin, which builds and passes its tests at once.
    New(PluginNewArguments),
    /// Build the component of a plugin's source.
    Build(PluginBuildArguments),
    /// Run a plugin's examples and fixtures, and inputs that no author thinks of, each twice.
    Test(PluginTestArguments),
    /// Write a component and its golden pack, as they are published.
    Pack(PluginPackArguments),
    /// Run a golden pack again: does this host have the plugin answer as where it was packed?
    Verify(PluginVerifyArguments),
    /// Show what changed in behaviour between two components.
    Diff(PluginDiffArguments),
    /// Make a call again that failed in a run with --keep-failed-calls, of the same component or of another one.
    Replay(PluginReplayArguments),
    /// Print the JSON Schema of cases: examples, fixtures, golden packs.
    #[command(after_help = PLUGIN_SCHEMA)]
    Schema { kind: KindName },
    /// Take a plugin from a registry: pin its bytes in netquarry.lock, and have it asked in netquarry.toml.
    Add(PluginAddArguments),
    /// Take a plugin out of netquarry.lock and netquarry.toml.
    #[command(after_help = PLUGIN_REMOVE)]
    Remove { name: String },
    /// Pin the newest versions of what is in netquarry.lock.
    Update(PluginUpdateArguments),
    /// List the plugins, in the order in which a run asks them.
    #[command(after_help = examples::PLUGIN_LIST)]
    List(CorpusArguments),
    /// Find plugins in the registries, by words in their names and summaries; all of them without words.
    #[command(after_help = PLUGIN_SEARCH)]
    Search { words: Vec<String> },
    /// Show what the registries say of a plugin: its versions, and which are yanked.
    #[command(after_help = PLUGIN_INFO)]
    Info { name: String },
    /// Copy all that is pinned into a folder, which is a registry of its own.
    #[command(after_help = PLUGIN_VENDOR)]
    Vendor {
        #[arg(value_name = "DIR", default_value = "vendor", value_hint = ValueHint::DirPath)]
        folder: PathBuf,
    },
    /// Make a registry, a folder; with keys, its versions have to be signed by one of them.
    Init(PluginInitArguments),
    /// Put a plugin into the folder of a registry, with its golden pack.
    Publish(PluginPublishArguments),
    /// Say that nobody should use a version any more, and why; who has pinned it keeps it until `update`.
    Yank(PluginYankArguments),
    /// Check a plugin as a registry would before it is published, or every file of a registry against its index.
    Check(PluginCheckArguments),
    /// Make a pair of minisign keys to sign versions with.
    Keygen(PluginKeygenArguments),
}

/// The kinds of plugins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum KindName {
    /// Chooses the blocks among the classes of the sources.
    DiscoveryRule,
    /// Knows what static analysis cannot see in one code base.
    RepoShim,
    /// Decides which blocks are duplicates of others.
    DedupStrategy,
    /// Describes blocks in a form of its own.
    SpecEmitter,
}

impl From<KindName> for Kind {
    fn from(kind: KindName) -> Self {
        match kind {
            KindName::DiscoveryRule => Self::DiscoveryRule,
            KindName::RepoShim => Self::RepoShim,
            KindName::DedupStrategy => Self::DedupStrategy,
            KindName::SpecEmitter => Self::SpecEmitter,
        }
    }
}

const PLUGIN_NEW: &str = "\
Examples:
  netquarry plugin new shim-acme --kind repo-shim --language python
  netquarry plugin new dedup-mine --kind dedup-strategy --path plugins/dedup-mine

The folder holds all that the plugin is built of, the SDK included.";

const PLUGIN_BUILD: &str = "\
Examples:
  netquarry plugin build
  netquarry plugin build shim-acme --output shim-acme.wasm

Rust is built by cargo for wasm32-unknown-unknown, Python by componentize-py, which is installed in the cache folder, once.";

const PLUGIN_TEST: &str = "\
Examples:
  netquarry plugin test
  netquarry plugin test shim-acme --bless
  netquarry plugin test shim-acme.wasm --format json

Exit status: 0 all cases passed; 1 some did not; 2 it cannot be built or loaded.";

const PLUGIN_PACK: &str = "\
Examples:
  netquarry plugin pack
  netquarry plugin pack shim-acme --output dist";

const PLUGIN_VERIFY: &str = "\
Examples:
  netquarry plugin verify
  netquarry plugin verify --first-party
  netquarry plugin verify dist/shim-acme-0.1.0.wasm dist/shim-acme-0.1.0.golden.json

Exit status: 0 every case gives what the pack says; 1 some do not; 2 it cannot be loaded.";

const PLUGIN_REPLAY: &str = "\
Examples:
  netquarry run --keep-failed-calls kept
  netquarry plugin replay kept/shim-acme-0.1.0-answer-dynamic-1a2b3c4d
  netquarry plugin replay kept/shim-acme-0.1.0-answer-dynamic-1a2b3c4d --of shim-acme

The SDKs make it natively, for a debugger: `netquarry_sdk::replay` in Rust, `netquarry_sdk.replay` in Python.

Exit status: 0 the call is answered; 1 it fails; 2 it cannot be made.";

const PLUGIN_DIFF: &str = "\
Examples:
  netquarry plugin diff dist/shim-acme-0.1.0.wasm shim-acme
  netquarry plugin diff old.wasm new.wasm --golden old.golden.json

Exit status: 0 they do the same; 1 they differ; 2 they cannot be compared.";

const PLUGIN_ADD: &str = "\
Examples:
  netquarry plugin add shim-acme
  netquarry plugin add shim-acme@^1.2 --allow-unsigned
  netquarry plugin add shim-acme --grant

Registries are named under [[registries]] in netquarry.toml; a name is looked up in them in order.";

const PLUGIN_REMOVE: &str = "\
Examples:
  netquarry plugin remove shim-acme";

const PLUGIN_UPDATE: &str = "\
Examples:
  netquarry plugin update
  netquarry plugin update shim-acme";

const PLUGIN_SEARCH: &str = "\
Examples:
  netquarry plugin search shim
  netquarry plugin search --format json

Exit status: 0 all registries were looked into; 2 one could not be, and what the others have is shown.";

const PLUGIN_INFO: &str = "\
Examples:
  netquarry plugin info shim-acme";

const PLUGIN_VENDOR: &str = "\
Examples:
  netquarry plugin vendor third_party

With `[[registries]]` naming the folder, a run needs no network.";

const PLUGIN_INIT: &str = "\
Examples:
  netquarry plugin init registry --name acme
  netquarry plugin init registry --name acme --key netquarry.pub";

const PLUGIN_PUBLISH: &str = "\
Examples:
  netquarry plugin publish shim-acme --registry ../registry
  netquarry plugin publish dist/shim-acme-0.1.0.wasm --registry ../registry --license MIT --repository . --sign netquarry.key

A registry is a folder with registry.json; put it on any web server. NETQUARRY_KEY_PASSWORD opens a key that has a password.
Where a registry changes its `keys`, publish its versions again, of the same bytes: they get the new signature.";

const PLUGIN_YANK: &str = "\
Examples:
  netquarry plugin yank shim-acme 0.1.0 --registry ../registry --reason 'drops a layer that does something'
  netquarry plugin yank shim-acme 0.1.0 --registry ../registry --undo";

const PLUGIN_CHECK: &str = "\
Examples:
  netquarry plugin check shim-acme --license MIT --registry ../registry
  netquarry plugin check dist/shim-acme-0.1.0.wasm --license MIT --repository https://example.org/shim-acme
  netquarry plugin check ../registry

A plugin has to build and to describe itself, with a summary, a licence, a repository and a version that the registry can
take; to carry an example; to pass its examples and fixtures, and inputs that no author thinks of, twice alike.

Exit status: 0 there are no errors, warnings at most; 1 there are; 2 it is neither a plugin nor a registry.";

const PLUGIN_KEYGEN: &str = "\
Examples:
  netquarry plugin keygen ~/keys

NETQUARRY_KEY_PASSWORD protects the secret key with a password.";

const PLUGIN_SCHEMA: &str = "\
Examples:
  netquarry plugin schema repo-shim";

#[derive(Debug, Args)]
#[command(after_help = PLUGIN_NEW)]
pub struct PluginNewArguments {
    /// Lower-case letters, digits and hyphens: `shim-acme`.
    pub name: String,

    #[arg(long, value_enum)]
    pub kind: KindName,

    #[arg(long, value_enum, default_value = "rust", help = "What it is written in")]
    pub language: Language,

    /// The folder, which must be missing or empty [default: NAME].
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub path: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = PLUGIN_BUILD)]
pub struct PluginBuildArguments {
    /// The folder with the plugin's source.
    #[arg(value_name = "DIR", default_value = ".", value_hint = ValueHint::DirPath)]
    pub folder: PathBuf,

    /// Put the component there [default: DIR/target/NAME.wasm].
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,

    /// Do not use the network.
    #[arg(long)]
    pub offline: bool,
}

#[derive(Debug, Args)]
#[command(after_help = PLUGIN_TEST)]
pub struct PluginTestArguments {
    /// The folder with the plugin's source, or a component.
    #[arg(value_name = "DIR|FILE.wasm", default_value = ".", value_hint = ValueHint::AnyPath)]
    pub target: PathBuf,

    /// Write down what comes out as what is expected, where it is not.
    #[arg(long)]
    pub bless: bool,

    /// Do not use the network.
    #[arg(long)]
    pub offline: bool,
}

#[derive(Debug, Args)]
#[command(after_help = PLUGIN_PACK)]
pub struct PluginPackArguments {
    /// The folder with the plugin's source, or a component.
    #[arg(value_name = "DIR|FILE.wasm", default_value = ".", value_hint = ValueHint::AnyPath)]
    pub target: PathBuf,

    /// Put the files into this folder.
    #[arg(long, short, value_name = "DIR", default_value = "dist", value_hint = ValueHint::DirPath)]
    pub output: PathBuf,

    /// Do not use the network.
    #[arg(long)]
    pub offline: bool,
}

#[derive(Debug, Args)]
#[command(after_help = PLUGIN_ADD)]
pub struct PluginAddArguments {
    /// The plugin, and which of its versions will do.
    #[arg(value_name = "NAME[@REQUIREMENT]")]
    pub plugin: Request,

    /// Take it although nobody vouches for it: its registry has no keys. The lock records that.
    #[arg(long)]
    pub allow_unsigned: bool,

    /// Grant it what it asks for beyond what every plugin is given. `[grants]` in netquarry.toml records that.
    #[arg(long)]
    pub grant: bool,
}

#[derive(Debug, Args)]
#[command(after_help = PLUGIN_UPDATE)]
pub struct PluginUpdateArguments {
    /// The plugin [default: all that are pinned].
    pub name: Option<String>,

    /// Take versions for which nobody vouches.
    #[arg(long)]
    pub allow_unsigned: bool,

    /// Grant what new versions ask for beyond what was granted before.
    #[arg(long)]
    pub grant: bool,
}

#[derive(Debug, Args)]
#[command(after_help = PLUGIN_INIT)]
pub struct PluginInitArguments {
    /// The folder.
    #[arg(value_name = "REGISTRY", value_hint = ValueHint::DirPath)]
    pub registry: PathBuf,

    /// What the registry calls itself.
    #[arg(long)]
    pub name: String,

    /// A minisign public key that signs its versions; may be given several times.
    #[arg(long = "key", value_name = "FILE.pub", value_hint = ValueHint::FilePath)]
    pub keys: Vec<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = PLUGIN_PUBLISH)]
pub struct PluginPublishArguments {
    /// The folder with the plugin's source, or a component.
    #[arg(value_name = "DIR|FILE.wasm", default_value = ".", value_hint = ValueHint::AnyPath)]
    pub target: PathBuf,

    /// The folder of the registry; it is made where it is missing.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub registry: PathBuf,

    /// The SPDX expression of the plugin's licence [default: what Cargo.toml or pyproject.toml says].
    #[arg(long, value_name = "EXPRESSION")]
    pub license: Option<String>,

    /// Where the source of the plugin is: a URL, or `.` for the repository in which the registry lies [default: what
    /// Cargo.toml or pyproject.toml says].
    #[arg(long, value_name = "URL")]
    pub repository: Option<String>,

    /// Sign it with this minisign secret key.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub sign: Option<PathBuf>,

    /// Publish a version that is older than the newest one.
    #[arg(long)]
    pub older: bool,

    /// Do not use the network.
    #[arg(long)]
    pub offline: bool,
}

#[derive(Debug, Args)]
#[command(after_help = PLUGIN_CHECK)]
pub struct PluginCheckArguments {
    /// The folder with a plugin's source, a component, or the folder of a registry.
    #[arg(value_name = "DIR|FILE.wasm|REGISTRY", default_value = ".", value_hint = ValueHint::AnyPath)]
    pub target: PathBuf,

    /// The folder of the registry that is to have the plugin: is its version a new one there?
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub registry: Option<PathBuf>,

    /// The SPDX expression of the plugin's licence [default: what Cargo.toml or pyproject.toml says].
    #[arg(long, value_name = "EXPRESSION")]
    pub license: Option<String>,

    /// Where the source of the plugin is [default: what Cargo.toml or pyproject.toml says].
    #[arg(long, value_name = "URL")]
    pub repository: Option<String>,

    /// Do not use the network.
    #[arg(long)]
    pub offline: bool,
}

#[derive(Debug, Args)]
#[command(after_help = PLUGIN_YANK)]
pub struct PluginYankArguments {
    pub name: String,

    pub version: String,

    /// The folder of the registry.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub registry: PathBuf,

    /// Why, for those who have pinned it.
    #[arg(long, required_unless_present = "undo")]
    pub reason: Option<String>,

    /// Take it back.
    #[arg(long, conflicts_with = "reason")]
    pub undo: bool,
}

#[derive(Debug, Args)]
#[command(after_help = PLUGIN_KEYGEN)]
pub struct PluginKeygenArguments {
    /// Where `netquarry.key` and `netquarry.pub` are put.
    #[arg(value_name = "DIR", default_value = ".", value_hint = ValueHint::DirPath)]
    pub folder: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = PLUGIN_VERIFY)]
pub struct PluginVerifyArguments {
    /// A component [default: all that are pinned, each with the golden pack that its registry has].
    #[arg(value_name = "FILE.wasm", value_hint = ValueHint::FilePath, requires = "golden")]
    pub component: Option<PathBuf>,

    /// Its golden pack.
    #[arg(value_name = "FILE.golden.json", value_hint = ValueHint::FilePath)]
    pub golden: Option<PathBuf>,

    /// Run the packs of all plugins of the program itself.
    #[arg(long, conflicts_with = "component")]
    pub first_party: bool,
}

#[derive(Debug, Args)]
#[command(after_help = PLUGIN_REPLAY)]
pub struct PluginReplayArguments {
    /// The folder of the kept call.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub call: PathBuf,

    /// Make it of this component, or of the one that is built of the source in a folder [default: the one that was kept].
    #[arg(long = "of", value_name = "DIR|FILE.wasm", value_hint = ValueHint::AnyPath)]
    pub component: Option<PathBuf>,

    /// Do not use the network.
    #[arg(long)]
    pub offline: bool,
}

#[derive(Debug, Args)]
#[command(after_help = PLUGIN_DIFF)]
pub struct PluginDiffArguments {
    /// A component, or the folder with a plugin's source.
    #[arg(value_hint = ValueHint::AnyPath)]
    pub old: PathBuf,

    #[arg(value_hint = ValueHint::AnyPath)]
    pub new: PathBuf,

    /// Run the cases of this pack too; may be given several times.
    #[arg(long, value_name = "FILE.golden.json", value_hint = ValueHint::FilePath)]
    pub golden: Vec<PathBuf>,

    /// Do not use the network.
    #[arg(long)]
    pub offline: bool,
}
