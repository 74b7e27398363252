//! The configuration file `netquarry.toml`, and the settings of a run: command line over file over defaults.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use netquarry_core::license::policy::{ListedLicense, NotListable, Policy, Rule};
use netquarry_core::verdict::Level;
use netquarry_corpus::load;
use netquarry_plugin::{PathGlob, Right, first_party};
use netquarry_registry::settings::RegistrySettings;
use schemars::JsonSchema;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::arguments::{GlobalArguments, IndexChoice, PipelineArguments, PluginOption};
use crate::problem::Problem;

/// What the file is called.
pub const FILE_NAME: &str = "netquarry.toml";
/// The corpus of a run that names none.
pub const DEFAULT_CORPUS: &str = "quickstart";
/// The output folder of a run that names none.
pub const DEFAULT_OUT: &str = "out";
/// The discovery rule where neither the user nor the corpus names one.
pub const DEFAULT_DISCOVERY: &str = "discover-nn-module-deep";

/// Stands in a list of plugins for those that would be asked without the list.
pub const DEFAULTS: &str = "...";

/// The configuration of NetQuarry, `netquarry.toml`. Paths are relative to the file's folder.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Configuration {
    /// A shipped corpus or a JSON file.
    pub corpus: Option<String>,
    pub out: Option<PathBuf>,
    pub cache_dir: Option<PathBuf>,
    pub python: Option<PathBuf>,
    pub level: Option<Level>,
    pub gate: Option<Level>,
    pub jobs: Option<u16>,
    pub threads: Option<u16>,
    pub index: Option<IndexChoice>,
    /// Packages that stay imported.
    pub keep_import: Vec<String>,
    /// Local folders in the place of corpus sources.
    pub sources: BTreeMap<String, PathBuf>,
    pub validate: ValidateOptions,
    pub licenses: LicenseOptions,
    pub plugins: PluginOrder,
    /// Where plugins of others are looked up, in this order; those of this program come last.
    pub registries: Vec<RegistrySettings>,
    /// What plugins may do that ask for more than every plugin is given, by plugin name: `[grants.shim-acme]`.
    pub grants: BTreeMap<String, Grants>,
    /// The options of single plugins, by plugin name: `[plugin.dedup-lexical]`.
    #[schemars(with = "BTreeMap<String, serde_json::Map<String, serde_json::Value>>")]
    pub plugin: BTreeMap<String, toml::Table>,
    /// What holds for one source alone, by its name in the corpus.
    pub for_source: BTreeMap<String, ForSource>,
}

/// What holds for one source, over what holds for all.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ForSource {
    /// Options of discovery rules and emitters, by plugin name: `[for-source.timm.plugin.emit-lemur]`.
    #[schemars(with = "BTreeMap<String, serde_json::Map<String, serde_json::Value>>")]
    pub plugin: BTreeMap<String, toml::Table>,
}

/// What a plugin was granted, word for word as it asks for it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Grants {
    /// Globs of files of sources that it may read: `configs/*.yaml`.
    pub read_files: Vec<PathGlob>,
}

impl Grants {
    pub fn rights(&self) -> Vec<Right> {
        self.read_files.iter().cloned().map(Right::ReadFiles).collect()
    }
}

/// Which licences blocks may have: SPDX identifiers, each in one list at most.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct LicenseOptions {
    #[schemars(with = "Vec<String>")]
    pub allow: Vec<LicenseName>,
    /// Held back until they are allowed or denied.
    #[schemars(with = "Vec<String>")]
    pub ask: Vec<LicenseName>,
    #[schemars(with = "Vec<String>")]
    pub deny: Vec<LicenseName>,
    /// For what no list has.
    pub default: Rule,
}

/// A licence in a list.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct LicenseName(ListedLicense);

impl TryFrom<String> for LicenseName {
    type Error = NotListable;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse().map(Self)
    }
}

impl LicenseOptions {
    /// What they come to, with the licences that the command line allows.
    fn policy(&self, allowed: &[ListedLicense]) -> Result<Policy, Problem> {
        let list = |names: &[LicenseName]| names.iter().map(|LicenseName(license)| license.clone()).collect();
        let (allow, ask, deny) = (list(&self.allow), list(&self.ask), list(&self.deny));
        let policy = Policy { allow, ask, deny, default: self.default };
        match policy.contradiction() {
            Some(license) => Err(Problem::new(format!("The licence `{}` is in two lists", license.name()))
                .because(format!("`allow`, `ask` and `deny` under [licenses] of {FILE_NAME} each say something else"))
                .help("leave it in one of them")),
            None => Ok(policy.allowing(allowed.iter().cloned())),
        }
    }
}

/// What bundles are validated with.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ValidateOptions {
    /// Install what bundles require beside what the environment has.
    pub install: bool,
    /// Run foreign code even where the machine cannot confine it.
    pub allow_weak_sandbox: bool,
    /// How many seconds a block may take.
    pub timeout: Option<NonZeroU32>,
    /// The requirement that provides a package, by the name that it is imported by: `cv2 = "opencv-python-headless>=4.8"`.
    #[serde(deserialize_with = "requirements")]
    #[schemars(with = "BTreeMap<String, String>")]
    pub requirements: BTreeMap<ImportName, RequirementText>,
}

fn requirements<'de, D: Deserializer<'de>>(table: D) -> Result<BTreeMap<ImportName, RequirementText>, D::Error> {
    struct Table;

    impl<'de> Visitor<'de> for Table {
        type Value = BTreeMap<ImportName, RequirementText>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("a table, as in requirements = { cv2 = \"opencv-python\" }")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut table: A) -> Result<Self::Value, A::Error> {
            let mut requirements = BTreeMap::new();
            while let Some((name, requirement)) = table.next_entry()? {
                requirements.insert(name, requirement);
            }
            Ok(requirements)
        }
    }

    table.deserialize_map(Table)
}

impl Default for ValidateOptions {
    fn default() -> Self {
        Self { install: true, allow_weak_sandbox: false, timeout: None, requirements: BTreeMap::new() }
    }
}

/// What a package is imported as: a name that can stand after `import`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub struct ImportName(String);

impl TryFrom<String> for ImportName {
    type Error = String;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        if is_identifier(&name) {
            return Ok(Self(name));
        }
        Err(match name.split('.').next() {
            Some(package) if is_identifier(package) => {
                format!("the keys are names of whole packages: `{package}` instead of `{name}`")
            }
            _ => format!("nobody can import `{name}`: the keys are import names, as in cv2 = \"opencv-python\""),
        })
    }
}

fn is_identifier(name: &str) -> bool {
    let is_start = |letter: char| letter.is_alphabetic() || letter == '_';
    name.starts_with(is_start) && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
}

/// A PEP 508 requirement that an index can fulfil.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequirementText(pub String);

impl<'de> Deserialize<'de> for RequirementText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RequirementVisitor)
    }
}

struct RequirementVisitor;

impl Visitor<'_> for RequirementVisitor {
    type Value = RequirementText;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a requirement in quotes, as in \"opencv-python-headless>=4.8\"")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<RequirementText, E> {
        RequirementText::try_from(text.to_owned()).map_err(E::custom)
    }
}

impl TryFrom<String> for RequirementText {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let example = "expected a requirement as in \"opencv-python-headless>=4.8\"";
        match pep508_rs::Requirement::<pep508_rs::VerbatimUrl>::from_str(&text) {
            Ok(requirement) if !matches!(requirement.version_or_url, Some(pep508_rs::VersionOrUrl::Url(_))) => {
                Ok(Self(requirement.to_string()))
            }
            Ok(_) => Err(format!("{example}: only wheels of a package index are installed, nothing from a URL")),
            Err(error) => Err(format!("{example}: {}", error.message)),
        }
    }
}

/// The plugins of each kind, in the order in which they are asked: names of first-party plugins or of those that
/// `netquarry.lock` pins, or paths of components (anything that ends in `.wasm`). `...` stands for those that would be asked
/// without the list.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct PluginOrder {
    /// Empty: what the corpus asks for, or else [`DEFAULT_DISCOVERY`].
    pub discover: Vec<String>,
    /// All first-party ones, where the configuration names none; their code bases do not overlap.
    pub shims: Vec<String>,
    pub dedup: Vec<String>,
    pub emit: Vec<String>,
}

impl PluginOrder {
    /// The names and paths in all of the lists.
    pub fn names(&self) -> impl Iterator<Item = &String> {
        [&self.discover, &self.shims, &self.dedup, &self.emit].into_iter().flatten()
    }
}

impl Default for PluginOrder {
    fn default() -> Self {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let is_shim = |name: &&str| name.starts_with("shim-");
        Self {
            discover: Vec::new(),
            shims: first_party().iter().map(|component| component.name).filter(is_shim).map(str::to_owned).collect(),
            dedup: owned(&["dedup-exact", "dedup-canonical", "dedup-lexical"]),
            emit: owned(&["emit-neutral-spec"]),
        }
    }
}

/// A configuration with the folder that its paths are relative to.
#[derive(Clone, Debug, Default)]
pub struct ConfigurationFile {
    pub configuration: Configuration,
    /// `None` where there is no file.
    pub path: Option<PathBuf>,
}

impl ConfigurationFile {
    /// Reads the file that the user named, or the nearest `netquarry.toml` in `folder` or above it.
    pub fn find(global: &GlobalArguments, folder: &Path) -> Result<Self, Problem> {
        if global.no_config {
            return Ok(Self::default());
        }
        if let Some(path) = &global.config {
            let text = fs::read_to_string(path).map_err(|error| {
                Problem::io("read the configuration file", path, error).help("--config names the file that is read")
            })?;
            return Ok(Self { configuration: parse(path, &text)?, path: Some(path.clone()) });
        }
        for ancestor in folder.ancestors() {
            let path = ancestor.join(FILE_NAME);
            match fs::read_to_string(&path) {
                Ok(text) => {
                    // In messages, a file of the working folder goes by its name.
                    let shown = path.strip_prefix(folder).unwrap_or(&path);
                    return Ok(Self { configuration: parse(shown, &text)?, path: Some(path) });
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => {
                    return Err(Problem::io("read the configuration file", &path, error)
                        .help("mend the file, or go without it with --no-config"));
                }
            }
        }
        Ok(Self::default())
    }

    /// `path` as the configuration file means it.
    pub fn absolute(&self, path: &Path) -> PathBuf {
        match self.path.as_deref().and_then(Path::parent) {
            Some(folder) => folder.join(path),
            None => path.to_owned(),
        }
    }
}

fn parse(path: &Path, text: &str) -> Result<Configuration, Problem> {
    let configuration: Configuration = toml::from_str(text).map_err(|error| {
        let problem = Problem::new(format!("The configuration file `{}` cannot be used", path.display()))
            .help("README.md lists what the file may say; --no-config goes without it");
        match error.span() {
            Some(span) => problem.at(path, text, span, error.message()),
            None => problem.because(error.message()),
        }
    })?;
    Ok(configuration)
}

/// A JSON object for each plugin that has options, by its name.
pub type PluginOptions = BTreeMap<String, serde_json::Value>;

/// Everything that the commands of the pipeline depend on.
#[derive(Clone, Debug)]
pub struct Settings {
    /// A shipped corpus or a JSON file.
    pub corpus: String,
    /// Somebody asked for the corpus.
    pub corpus_was_asked_for: bool,
    pub out: PathBuf,
    pub cache_dir: PathBuf,
    /// Where the store lies: in the cache folder, unless somebody wants an empty one.
    pub store_dir: PathBuf,
    /// Local folders in the place of corpus sources.
    pub sources: BTreeMap<String, PathBuf>,
    /// Sorted, each once.
    pub keep_imports: Vec<String>,
    /// The highest level that is tried.
    pub level: Level,
    /// Somebody asked for it.
    pub level_was_asked_for: bool,
    pub gate: Level,
    /// Somebody asked for the gate: blocks below it are findings.
    pub gate_was_asked_for: bool,
    pub python: Option<PathBuf>,
    pub jobs: Option<usize>,
    pub threads: usize,
    pub index: IndexChoice,
    pub rebuild_index: bool,
    pub offline: bool,
    pub retry_failed: bool,
    /// Install what bundles require beside what the environment has.
    pub install: bool,
    /// Run foreign code even where the machine cannot confine it.
    pub allow_weak_sandbox: bool,
    /// How many seconds a block may take, where somebody says so.
    pub timeout: Option<u32>,
    /// Requirements by the name of the package that they provide.
    pub requirements: BTreeMap<String, String>,
    /// Which licences promoted blocks may have.
    pub licenses: Policy,
    pub plugins: PluginOrder,
    pub registries: Vec<RegistrySettings>,
    /// The configuration file, where there is one.
    pub configuration_path: Option<PathBuf>,
    /// Its folder, in which the lock lies too; else the working folder.
    pub project_dir: PathBuf,
    /// The lock has to have what is ordered, and stays as it is.
    pub locked: bool,
    /// The plugins that the configuration file orders, whatever the command line asks for in their place.
    pub configured_plugins: PluginOrder,
    /// Somebody asked for the emitters.
    pub emitters_were_asked_for: bool,
    /// What plugins may do, by plugin name.
    pub grants: BTreeMap<String, Vec<Right>>,
    /// Where calls of plugins that fail are kept, where somebody wants them.
    pub kept_calls: Option<PathBuf>,
    /// Options by plugin name.
    pub plugin_options: PluginOptions,
    /// The plugins to which the command line gives options, by the names that it has for them.
    pub plugins_set: BTreeSet<String>,
    /// Options for single sources, by the source's name: over those for all.
    pub source_options: BTreeMap<String, PluginOptions>,
}

impl Settings {
    /// The settings of a command.
    pub fn new(
        global: &GlobalArguments,
        pipeline: &PipelineArguments,
        file: &ConfigurationFile,
    ) -> Result<Self, Problem> {
        let configuration = &file.configuration;
        let gate: Option<Level> = pipeline.gate.map(Level::from).or(configuration.gate);
        let level: Option<Level> = pipeline.level.map(Level::from).or(configuration.level);
        let level_was_asked_for = level.is_some();
        let (level, gate) = climb(level, gate)?;
        let cache_dir = cache_dir(global, file)?;

        let mut sources: BTreeMap<String, PathBuf> =
            configuration.sources.iter().map(|(name, path)| (name.clone(), file.absolute(path))).collect();
        sources.extend(pipeline.sources.iter().map(|source| (source.name.clone(), source.path.clone())));
        let mut keep_imports = [&configuration.keep_import[..], &pipeline.keep_imports].concat();
        keep_imports.sort();
        keep_imports.dedup();

        let corpus = match (&pipeline.corpus.corpus, &configuration.corpus) {
            (Some(corpus), _) => corpus.clone(),
            (None, Some(corpus)) if load::names_a_file(corpus) => {
                file.absolute(Path::new(corpus)).to_string_lossy().into_owned()
            }
            (None, Some(corpus)) => corpus.clone(),
            (None, None) => DEFAULT_CORPUS.to_owned(),
        };
        let corpus_was_asked_for = pipeline.corpus.corpus.is_some() || configuration.corpus.is_some();
        let from_file = |path: &Option<PathBuf>| path.as_ref().map(|path| file.absolute(path));
        Ok(Self {
            corpus,
            corpus_was_asked_for,
            out: pipeline.out.clone().or(from_file(&configuration.out)).unwrap_or_else(|| DEFAULT_OUT.into()),
            store_dir: cache_dir.clone(),
            cache_dir,
            sources,
            keep_imports,
            level,
            level_was_asked_for,
            gate,
            gate_was_asked_for: pipeline.gate.is_some() || configuration.gate.is_some(),
            python: pipeline.python.clone().or(from_file(&configuration.python)),
            jobs: pipeline.jobs.or(configuration.jobs).map(usize::from),
            threads: threads(global, configuration),
            index: pipeline.index.or(configuration.index).unwrap_or_default(),
            rebuild_index: pipeline.rebuild_index,
            offline: pipeline.offline,
            retry_failed: pipeline.retry_failed,
            install: configuration.validate.install && !pipeline.no_install,
            allow_weak_sandbox: configuration.validate.allow_weak_sandbox || pipeline.allow_weak_sandbox,
            timeout: pipeline.timeout.or(configuration.validate.timeout.map(NonZeroU32::get)),
            requirements: (configuration.validate.requirements.iter())
                .map(|(ImportName(package), RequirementText(requirement))| (package.clone(), requirement.clone()))
                .collect(),
            licenses: configuration.licenses.policy(&pipeline.allowed_licenses)?,
            plugins: plugin_order(pipeline, file),
            registries: configuration.registries.clone(),
            configuration_path: file.path.clone(),
            locked: global.locked,
            configured_plugins: configuration.plugins.clone(),
            project_dir: file.path.as_deref().and_then(Path::parent).unwrap_or(Path::new("")).to_owned(),
            emitters_were_asked_for: !pipeline.corpus.emit.is_empty()
                || configuration.plugins.emit != PluginOrder::default().emit,
            grants: configuration.grants.iter().map(|(name, grants)| (name.clone(), grants.rights())).collect(),
            kept_calls: pipeline.keep_failed_calls.clone(),
            plugin_options: plugin_options(&configuration.plugin),
            plugins_set: BTreeSet::new(),
            source_options: (configuration.for_source.iter())
                .map(|(source, own)| (source.clone(), plugin_options(&own.plugin)))
                .collect(),
        }
        .with_options(&pipeline.plugin_options))
    }
}

impl Settings {
    /// With options of plugins that the command line gives.
    #[must_use]
    pub fn with_options(mut self, options: &[PluginOption]) -> Self {
        for PluginOption { plugin, option, value } in options {
            let of_plugin = self.plugin_options.entry(plugin.clone()).or_insert_with(|| serde_json::json!({}));
            of_plugin[option] = value.clone();
            self.plugins_set.insert(plugin.clone());
        }
        self
    }
}

/// The highest level to try and the gate: the one that is not given follows the other.
fn climb(level: Option<Level>, gate: Option<Level>) -> Result<(Level, Level), Problem> {
    match (level, gate) {
        (Some(level), Some(gate)) if gate > level => Err(Problem::new(format!(
            "The gate `{}` lies above the highest level that is tried, `{}`",
            gate.name(),
            level.name()
        ))
        .help(format!("ask for --level {} too, or for a lower --gate", gate.name()))),
        (Some(level), gate) => Ok((level, gate.unwrap_or(Level::Execute.min(level)))),
        (None, gate) => {
            let gate = gate.unwrap_or(Level::Execute);
            Ok((Level::Forward.max(gate), gate))
        }
    }
}

/// The folder that relative paths start from.
pub fn working_folder() -> Result<PathBuf, Problem> {
    std::env::current_dir().map_err(|error| Problem::io("find the working folder", Path::new("."), error))
}

/// Where everything is kept that a later run can use again, as an absolute path: processes are started in other folders.
pub fn cache_dir(global: &GlobalArguments, file: &ConfigurationFile) -> Result<PathBuf, Problem> {
    let asked =
        global.cache_dir.clone().or_else(|| file.configuration.cache_dir.as_deref().map(|path| file.absolute(path)));
    if let Some(path) = asked {
        return std::path::absolute(&path).map_err(|error| Problem::io("find the cache folder", &path, error));
    }
    let variable = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = variable("XDG_CACHE_HOME").or_else(|| variable("HOME").map(|home| home.join(".cache")));
    base.map(|base| base.join("netquarry")).ok_or_else(|| {
        Problem::new("There is no folder for the cache: neither XDG_CACHE_HOME nor HOME is set")
            .help("name one with --cache-dir or NETQUARRY_CACHE")
    })
}

fn threads(global: &GlobalArguments, configuration: &Configuration) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    global.threads.or(configuration.threads).map_or_else(cores, |threads| usize::from(threads.max(1)))
}

fn plugin_options(tables: &BTreeMap<String, toml::Table>) -> PluginOptions {
    let option = |(name, options): (&String, &toml::Table)| {
        let options = serde_json::to_value(options).expect("a TOML table has string keys");
        (name.clone(), options)
    };
    tables.iter().map(option).collect()
}

fn plugin_order(pipeline: &PipelineArguments, file: &ConfigurationFile) -> PluginOrder {
    let absolute = |names: &[String]| {
        let path = |name: &String| match name.ends_with(".wasm") {
            true => file.absolute(Path::new(name)).to_string_lossy().into_owned(),
            false => name.clone(),
        };
        names.iter().map(path).collect()
    };
    let order = &file.configuration.plugins;
    let asked = |asked: &[String], configured: &[String]| match asked {
        [] => absolute(configured),
        asked => asked.to_vec(),
    };
    let defaults = PluginOrder::default();
    PluginOrder {
        discover: asked(&pipeline.corpus.discover, &order.discover),
        shims: expanded(absolute(&order.shims), &defaults.shims),
        dedup: expanded(absolute(&order.dedup), &defaults.dedup),
        emit: expanded(asked(&pipeline.corpus.emit, &order.emit), &defaults.emit),
    }
}

/// The list with those of the defaults that it does not name in the place of the first `...`; nothing is left for another.
pub fn expanded(names: Vec<String>, defaults: &[String]) -> Vec<String> {
    let mut others: Vec<String> = defaults.iter().filter(|name| !names.contains(name)).cloned().collect();
    let of = |name: String| if name == DEFAULTS { std::mem::take(&mut others) } else { vec![name] };
    names.into_iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::arguments::{Arguments, Command};
    use crate::problem;

    fn settings(command_line: &[&str], toml: &str) -> Result<Settings, Problem> {
        let cache: &[&str] = if command_line.contains(&"--cache-dir") { &[] } else { &["--cache-dir", "/cache"] };
        let words = ["netquarry", "run"].iter().chain(cache).chain(command_line);
        let arguments = Arguments::try_parse_from(words).expect("the command line is right");
        let path = PathBuf::from("/project/netquarry.toml");
        let file = ConfigurationFile { configuration: parse(&path, toml)?, path: Some(path) };
        let Command::Run(stage) = &arguments.command else { panic!("`run` was parsed as something else") };
        Settings::new(&arguments.global, &stage.pipeline, &file)
    }

    fn message(toml: &str) -> String {
        problem::render(&settings(&[], toml).expect_err("the configuration is wrong"), false, Some(100))
    }

    #[test]
    fn the_command_line_goes_over_the_file_and_the_file_over_the_defaults() {
        let settings = settings(
            &["--corpus", "paper", "--keep-import", "transformers", "--source", "timm=here"],
            "corpus = \"mine.json\"\nout = \"library\"\nkeep-import = [\"einops\"]\ngate = \"forward\"\n\
             [sources]\ntimm = \"../timm\"\nvision = \"../vision\"\n[plugin.dedup-lexical]\nthreshold = 0.8\n",
        )
        .unwrap();
        assert_eq!(settings.corpus, "paper");
        assert_eq!(settings.out, Path::new("/project/library"));
        assert_eq!(settings.keep_imports, ["einops", "transformers"]);
        assert_eq!(settings.sources["timm"], Path::new("here"));
        assert_eq!(settings.sources["vision"], Path::new("/project/../vision"));
        assert_eq!((settings.gate, settings.level), (Level::Forward, Level::Forward));
        assert!(settings.gate_was_asked_for);
        assert_eq!(settings.plugin_options["dedup-lexical"]["threshold"], 0.8);
        assert_eq!(settings.plugins, PluginOrder::default());
    }

    #[test]
    fn the_cache_is_the_same_folder_for_processes_that_are_started_elsewhere() {
        let cache = settings(&["--cache-dir", "here"], "").unwrap().cache_dir;
        assert_eq!(cache, std::env::current_dir().unwrap().join("here"));
    }

    #[test]
    fn a_corpus_file_and_plugins_are_found_beside_the_configuration() {
        let settings =
            settings(&[], "corpus = \"mine.json\"\n[plugins]\nshims = [\"shim-timm\", \"own.wasm\"]\n").unwrap();
        assert_eq!(settings.corpus, "/project/mine.json");
        assert_eq!(self::settings(&[], "corpus = \"corpora/mine\"\n").unwrap().corpus, "/project/corpora/mine");
        assert_eq!(settings.plugins.shims, ["shim-timm", "/project/own.wasm"]);
        assert_eq!(settings.plugins.emit, PluginOrder::default().emit);
    }

    #[test]
    fn three_dots_stand_for_the_default_plugins() {
        let toml = "[plugins]\nshims = [\"...\", \"own.wasm\"]\ndedup = [\"dedup-structural\", \"...\"]\n";
        let plugins = settings(&["--emit", "emit-lemur,..."], toml).unwrap().plugins;
        let defaults = PluginOrder::default();
        assert_eq!(plugins.shims, [&defaults.shims[..], &["/project/own.wasm".to_owned()]].concat());
        assert_eq!(plugins.dedup, [&["dedup-structural".to_owned()], &defaults.dedup[..]].concat());
        assert_eq!(plugins.emit, ["emit-lemur", "emit-neutral-spec"]);
        // What is named already has its place.
        assert_eq!(expanded(vec!["b".to_owned(), DEFAULTS.to_owned()], &["a".to_owned(), "b".to_owned()]), ["b", "a"]);
        assert_eq!(expanded(vec![DEFAULTS.to_owned(), DEFAULTS.to_owned()], &["a".to_owned()]), ["a"]);
    }

    #[test]
    fn the_command_line_can_ask_for_what_the_file_overrules_by_default() {
        let index = |arguments: &[&str]| settings(arguments, "index = \"force\"\n").unwrap().index;
        assert_eq!(index(&[]), IndexChoice::Force);
        assert_eq!(index(&["--index", "missing"]), IndexChoice::Missing);
    }

    #[test]
    fn a_gate_above_the_highest_level_is_refused() {
        let problem = settings(&["--gate", "forward", "--level", "execute"], "").expect_err("the gate is too high");
        assert!(problem.help_text().expect("there is advice").contains("--level forward"));
    }

    #[test]
    fn an_unknown_field_is_pointed_at() {
        insta::assert_snapshot!(message("corpus = \"quickstart\"\nkeep-imports = [\"einops\"]\n"));
    }

    #[test]
    fn a_wrong_level_is_pointed_at() {
        insta::assert_snapshot!(message("gate = \"exceute\"\n"));
    }

    #[test]
    fn requirements_are_named_by_the_package_that_they_provide() {
        let toml = "[validate.requirements]\ncv2 = \"opencv-python-headless >= 4.8\"\n";
        let requirements = settings(&[], toml).unwrap().requirements;
        assert_eq!(requirements["cv2"], "opencv-python-headless>=4.8");
        let install = |arguments: &[&str], toml: &str| settings(arguments, toml).unwrap().install;
        assert!(install(&[], ""));
        assert!(!install(&["--no-install"], ""));
        assert!(!install(&[], "[validate]\ninstall = false\n"));
    }

    #[test]
    fn a_requirement_that_is_none_is_pointed_at() {
        insta::assert_snapshot!(message("[validate.requirements]\ncv2 = \"opencv python\"\n"));
    }

    #[test]
    fn a_key_that_nobody_can_import_is_pointed_at() {
        insta::assert_snapshot!(message("[validate.requirements]\nopencv-python = \"opencv-python\"\n"));
        insta::assert_snapshot!(message("[validate.requirements]\n\"google.protobuf\" = \"protobuf\"\n"));
        for key in [".x", "google-cloud.storage"] {
            let message = message(&format!("[validate.requirements]\n\"{key}\" = \"protobuf\"\n"));
            assert!(message.contains(&format!("nobody can import `{key}`")), "{message}");
        }
    }

    #[test]
    fn a_requirement_of_another_type_is_pointed_at() {
        insta::assert_snapshot!(message("[validate.requirements]\ncv2 = 4.8\n"));
        insta::assert_snapshot!(message("[validate.requirements]\ncv2 = { version = \"4.8\" }\n"));
        insta::assert_snapshot!(message("[validate]\nrequirements = [\"opencv-python\"]\n"));
    }

    #[test]
    fn licences_are_ruled_by_lists_and_the_command_line_allows_more() {
        let toml = "[licenses]\nallow = [\"MIT\"]\nask = [\"GPL-3.0-only\", \"ISC\"]\ndeny = [\"AGPL-3.0-only\"]\n";
        let held = |arguments: &[&str], license: &str| {
            let held = settings(arguments, toml).unwrap().licenses.holds_back(Some(license));
            held.map(|held| held.licenses.concat())
        };
        assert_eq!(held(&[], "GPL-3.0-only AND MIT").as_deref(), Some("GPL-3.0-only"));
        assert_eq!(held(&["--allow-license", "GPL-3.0-only,AGPL-3.0-only"], "AGPL-3.0-only AND GPL-3.0-only"), None);
        assert_eq!(held(&["--allow-license", "GPL-3.0-only"], "ISC").as_deref(), Some("ISC"));
        assert!(settings(&[], "").unwrap().licenses.is_open());
    }

    #[test]
    fn a_licence_that_cannot_be_listed_is_pointed_at() {
        insta::assert_snapshot!(message("[licenses]\nallow = [\"MIT\", \"GPL-*\"]\n"));
        insta::assert_snapshot!(message("[licenses]\ndeny = [\"MIT OR Apache-2.0\"]\n"));
        insta::assert_snapshot!(message("[licenses]\nallow = [\"MIT\"]\ndeny = [\"MIT\"]\n"));
        insta::assert_snapshot!(message("[licenses]\ndefault = \"refuse\"\n"));
    }

    #[test]
    fn broken_toml_is_pointed_at() {
        insta::assert_snapshot!(message("corpus = quickstart\n"));
    }
}
