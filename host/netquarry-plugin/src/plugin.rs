//! A loaded plugin, and how it gets its configuration.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use wasmtime::Store;
use wasmtime::component::Component;

use crate::api_version::{self, ApiVersion};
use crate::bindings;
use crate::bindings::base::netquarry::plugin::types;
use crate::bindings::base::{BasePre, ConfigurationError};
use crate::bindings::dedup_strategy::DedupStrategyPre;
use crate::bindings::discovery_rule::DiscoveryRulePre;
use crate::bindings::repo_shim::RepoShimPre;
use crate::bindings::spec_emitter::SpecEmitterPre;
use crate::call::{Caller, State, Task, one_line};
use crate::dedup::DedupStrategy;
use crate::discovery::DiscoveryRule;
use crate::emit::SpecEmitter;
use crate::error::{CallError, CallFailure, ConfigureError, LoadError, PluginIdentity, Refusal, legible, quoted};
use crate::host::PluginHost;
use crate::kept::{CallOutcome, Keeper, KeptCall};
use crate::limits::Limits;
use crate::permission::{Permission, ReadableFiles, Right, Ungranted};
use crate::shim::RepoShim;
use crate::tape::Tape;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    DiscoveryRule,
    RepoShim,
    DedupStrategy,
    SpecEmitter,
}

impl Kind {
    /// The name of its world.
    pub fn name(self) -> &'static str {
        match self {
            Self::DiscoveryRule => "discovery-rule",
            Self::RepoShim => "repo-shim",
            Self::DedupStrategy => "dedup-strategy",
            Self::SpecEmitter => "spec-emitter",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl From<types::Kind> for Kind {
    fn from(kind: types::Kind) -> Self {
        match kind {
            types::Kind::DiscoveryRule => Self::DiscoveryRule,
            types::Kind::RepoShim => Self::RepoShim,
            types::Kind::DedupStrategy => Self::DedupStrategy,
            types::Kind::SpecEmitter => Self::SpecEmitter,
        }
    }
}

/// What a plugin says about itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    pub name: String,
    pub version: String,
    pub kind: Kind,
    /// Markdown; the first line is a one-line summary.
    pub documentation: String,
    /// A JSON Schema of an object.
    pub configuration_schema: Value,
    /// All that it may ask for, each once.
    pub permissions: Vec<Permission>,
}

/// A case that a plugin shows itself by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    pub name: String,
    /// A [`crate::cases::Case`] in JSON, as the plugin has it.
    pub document: String,
}

impl Description {
    /// All options that hold with this configuration: what it leaves open has the schema's default.
    fn options(&self, configuration: &Value) -> Map<String, Value> {
        let properties = self.configuration_schema.get("properties").and_then(Value::as_object);
        let default = |(name, schema): (&String, &Value)| Some((name.clone(), schema.get("default")?.clone()));
        let mut options: Map<String, Value> = properties.into_iter().flatten().filter_map(default).collect();
        options.extend(configuration.as_object().cloned().unwrap_or_default());
        options
    }
}

/// A component that fits its world, ready to be configured.
#[derive(Clone)]
pub struct Plugin {
    identity: PluginIdentity,
    description: Description,
    caller: Caller,
    instances: Instances,
    granted: Vec<Right>,
}

/// Makes instances of the component.
#[derive(Clone)]
enum Instances {
    DiscoveryRule(DiscoveryRulePre<State>),
    RepoShim(RepoShimPre<State>),
    DedupStrategy(DedupStrategyPre<State>),
    SpecEmitter(SpecEmitterPre<State>),
}

impl Instances {
    fn examples(&self, store: &mut Store<State>) -> wasmtime::Result<Vec<types::Example>> {
        match self {
            Self::DiscoveryRule(instances) => instances.instantiate(&mut *store)?.call_examples(store),
            Self::RepoShim(instances) => instances.instantiate(&mut *store)?.call_examples(store),
            Self::DedupStrategy(instances) => instances.instantiate(&mut *store)?.call_examples(store),
            Self::SpecEmitter(instances) => instances.instantiate(&mut *store)?.call_examples(store),
        }
    }
}

/// What is wrong with the names of examples.
fn flaw(examples: &[Example]) -> Option<String> {
    let mut seen = BTreeSet::new();
    examples.iter().find_map(|Example { name, .. }| {
        if !is_plain(name) {
            let name = quoted(name);
            Some(format!("an example is called {name}, and a name has lower-case letters, digits and hyphens"))
        } else if !seen.insert(name) {
            Some(format!("two examples are called {name}"))
        } else {
            None
        }
    })
}

/// Lower-case letters, digits and hyphens, 64 at most.
fn is_plain(name: &str) -> bool {
    let plain = |character: char| character.is_ascii_lowercase() || character.is_ascii_digit() || character == '-';
    !name.is_empty() && name.len() <= 64 && name.chars().all(plain)
}

impl Plugin {
    pub fn identity(&self) -> &PluginIdentity {
        &self.identity
    }

    pub fn description(&self) -> &Description {
        &self.description
    }

    /// The cases that the plugin shows itself by, in its order.
    ///
    /// # Errors
    ///
    /// Where the call fails, or two of them have one name.
    pub fn examples(&self) -> Result<Vec<Example>, CallError> {
        let task = Task { stage: "show", item: "its examples", source: "" };
        let examples = self.caller.call(task, |store| Ok(Ok(self.instances.examples(store)?)))?;
        let examples: Vec<Example> =
            examples.into_iter().map(|types::Example { name, document }| Example { name, document }).collect();
        match flaw(&examples) {
            Some(reason) => Err(self.caller.unacceptable(task, reason)),
            None => Ok(examples),
        }
    }

    /// The plugin with all that it asks for, where these rights hold all of that. Without it, the host refuses what the
    /// plugin asks for.
    ///
    /// # Errors
    ///
    /// Where it asks for more.
    pub fn granted(self, rights: &[Right]) -> Result<Self, Ungranted> {
        let is_missing = |permission: &&Permission| !rights.contains(&permission.right);
        let missing: Vec<Permission> = self.description.permissions.iter().filter(is_missing).cloned().collect();
        match missing.is_empty() {
            true => Ok(self.granted_all()),
            false => Err(Ungranted { plugin: self.identity, missing }),
        }
    }

    /// The plugin with all that it asks for, whatever that is: for inputs that hide nothing from it.
    pub fn granted_all(self) -> Self {
        let granted = self.description.permissions.iter().map(|permission| permission.right.clone()).collect();
        Self { granted, ..self }
    }

    /// The plugin as a discovery rule.
    ///
    /// # Errors
    ///
    /// Where it is of another kind or refuses the configuration, a JSON object.
    pub fn discovery_rule(&self, configuration: &Value) -> Result<DiscoveryRule, ConfigureError> {
        let Instances::DiscoveryRule(instances) = &self.instances else {
            return Err(self.wrong_kind(Kind::DiscoveryRule));
        };
        let caller = self.configured(configuration, instances)?;
        Ok(DiscoveryRule::new(caller, instances.clone()))
    }

    /// The plugin as a shim.
    ///
    /// # Errors
    ///
    /// As [`Plugin::discovery_rule`].
    pub fn repo_shim(&self, configuration: &Value) -> Result<RepoShim, ConfigureError> {
        let Instances::RepoShim(instances) = &self.instances else {
            return Err(self.wrong_kind(Kind::RepoShim));
        };
        let caller = self.configured(configuration, instances)?;
        Ok(RepoShim::new(caller, instances.clone(), ReadableFiles::of(&self.granted)))
    }

    /// The plugin as a deduplication strategy.
    ///
    /// # Errors
    ///
    /// As [`Plugin::discovery_rule`].
    pub fn dedup_strategy(&self, configuration: &Value) -> Result<DedupStrategy, ConfigureError> {
        let Instances::DedupStrategy(instances) = &self.instances else {
            return Err(self.wrong_kind(Kind::DedupStrategy));
        };
        let caller = self.configured(configuration, instances)?;
        Ok(DedupStrategy::new(caller, self.description.options(configuration), instances.clone()))
    }

    /// The plugin as an emitter.
    ///
    /// # Errors
    ///
    /// As [`Plugin::discovery_rule`].
    pub fn spec_emitter(&self, configuration: &Value) -> Result<SpecEmitter, ConfigureError> {
        let Instances::SpecEmitter(instances) = &self.instances else {
            return Err(self.wrong_kind(Kind::SpecEmitter));
        };
        let caller = self.configured(configuration, instances)?;
        Ok(SpecEmitter::new(caller, instances.clone()))
    }

    fn wrong_kind(&self, wanted: Kind) -> ConfigureError {
        ConfigureError::Kind { plugin: self.identity.clone(), found: self.description.kind, wanted }
    }

    /// Tries the configuration on an instance, so that a wrong one is known before the first piece of work.
    fn configured<W: World>(&self, configuration: &Value, world: &W) -> Result<ConfiguredCaller, ConfigureError> {
        let json = configuration.to_string();
        let task = Task { stage: "configure", item: "", source: "" };
        let configure = |store: &mut Store<State>| {
            let instance = world.instantiate(store)?;
            world.configure(&instance, store, &json).map(Ok)
        };
        match self.caller.call(task, configure)? {
            Ok(()) => {
                Ok(ConfiguredCaller { caller: self.caller.clone(), kind: self.description.kind, configuration: json })
            }
            Err(ConfigurationError { pointer, message }) => {
                let shown = |text: &str| legible(text, State::MESSAGE_BYTES);
                let (pointer, message) = (shown(&pointer), shown(&message));
                Err(ConfigureError::Refused { plugin: self.identity.clone(), pointer, message })
            }
        }
    }
}

/// Instances of components of one world.
pub(crate) trait World {
    type Instance;

    fn instantiate(&self, store: &mut Store<State>) -> wasmtime::Result<Self::Instance>;

    fn configure(
        &self,
        instance: &Self::Instance,
        store: &mut Store<State>,
        json: &str,
    ) -> wasmtime::Result<Result<(), ConfigurationError>>;
}

macro_rules! world {
    ($instances:ty, $instance:ty) => {
        impl World for $instances {
            type Instance = $instance;

            fn instantiate(&self, store: &mut Store<State>) -> wasmtime::Result<$instance> {
                self.instantiate(store)
            }

            fn configure(
                &self,
                instance: &$instance,
                store: &mut Store<State>,
                json: &str,
            ) -> wasmtime::Result<Result<(), ConfigurationError>> {
                instance.call_configure(store, json)
            }
        }
    };
}

world!(DiscoveryRulePre<State>, bindings::discovery_rule::DiscoveryRule);
world!(RepoShimPre<State>, bindings::repo_shim::RepoShim);
world!(DedupStrategyPre<State>, bindings::dedup_strategy::DedupStrategy);
world!(SpecEmitterPre<State>, bindings::spec_emitter::SpecEmitter);

/// Calls a plugin that has accepted its configuration.
#[derive(Clone)]
pub(crate) struct ConfiguredCaller {
    caller: Caller,
    kind: Kind,
    configuration: String,
}

/// One call of a function of a world.
pub(crate) struct Call<'a, W: World, R> {
    pub(crate) task: Task<'a>,
    pub(crate) world: &'a W,
    /// Calls the function and looks at what it answers.
    pub(crate) ask: &'a Ask<'a, W::Instance, R>,
}

/// What is kept of a call that fails, beside what is kept of every one.
pub(crate) struct Keepsake<'a> {
    /// The function by its name in the contract.
    pub(crate) function: &'static str,
    /// Those of the function, without resources.
    pub(crate) arguments: &'a dyn Fn() -> Vec<Value>,
    /// How many blocks a strategy is asked about.
    pub(crate) blocks: u32,
}

/// Asks an instance.
type Ask<'a, I, R> = dyn Fn(&I, &mut Store<State>) -> Answer<R> + 'a;

/// What a function of a plugin comes to.
pub(crate) type Answer<R> = wasmtime::Result<Result<R, CallFailure>>;

/// The answer of a plugin, where it is acceptable.
pub(crate) fn accepted<R, T>(
    answer: wasmtime::Result<Result<R, types::Refusal>>,
    accept: impl FnOnce(R) -> Result<T, String>,
) -> Answer<T> {
    Ok(answer?.map_err(CallFailure::from).and_then(|answer| accept(answer).map_err(CallFailure::Answer)))
}

impl ConfiguredCaller {
    pub(crate) fn plugin(&self) -> &PluginIdentity {
        &self.caller.plugin
    }

    /// The same with the limits of a call about so many blocks.
    pub(crate) fn for_blocks(&self, count: u32) -> Self {
        let mut caller = self.clone();
        caller.caller.limits = caller.caller.limits.for_blocks(count);
        caller
    }

    /// Makes an instance, configures it, and calls it once.
    pub(crate) fn call<W: World, R>(&self, call: &Call<'_, W, R>) -> Result<R, CallError> {
        self.call_with(call, Tape::Off).0
    }

    /// The same, and keeps the call where it fails and somebody wants that.
    pub(crate) fn call_or_keep<W: World, R>(
        &self,
        call: &Call<'_, W, R>,
        keepsake: &Keepsake<'_>,
    ) -> Result<R, CallError> {
        self.call(call).map_err(|error| match &self.caller.keeper {
            Some(keeper) if keeper.wants(keepsake.function) => self.keep(call, keepsake, keeper, error),
            _ => error,
        })
    }

    /// Keeps a call that failed with this error. It is made once more for it, which fails in the same way but where it was
    /// the clock that ended it: calls depend on nothing but what they are given.
    fn keep<W: World, R>(
        &self,
        call: &Call<'_, W, R>,
        keepsake: &Keepsake<'_>,
        keeper: &Keeper,
        error: CallError,
    ) -> CallError {
        let (again, tape) = self.call_with(call, Tape::recording());
        let Err(again) = again else {
            tracing::warn!("a failed call of plugin {} is not kept: made once more, it did not fail", self.plugin());
            return error;
        };
        let PluginIdentity { name, version, digest } = self.plugin().clone();
        let kept = KeptCall {
            format: KeptCall::FORMAT,
            plugin: name,
            version,
            sha256: digest,
            kind: self.kind,
            function: keepsake.function.to_owned(),
            item: again.item.clone(),
            configuration: serde_json::from_str(&self.configuration).expect("it was made of JSON"),
            arguments: (keepsake.arguments)(),
            blocks: keepsake.blocks,
            host_calls: tape.recorded(),
            outcome: CallOutcome::failed(&again),
        };
        match keeper.keep(&kept) {
            Ok(folder) if kept.host_calls.is_some() => CallError { kept: Some(folder.into()), ..error },
            Ok(folder) => {
                let (plugin, folder) = (self.plugin(), folder.display());
                tracing::warn!(
                    "a failed call of plugin {plugin} is kept in {folder} and cannot be made again: what the host \
                     answered was too much to be kept"
                );
                error
            }
            Err(reason) => {
                tracing::warn!("a failed call of plugin {} cannot be kept: {reason}", self.plugin());
                error
            }
        }
    }

    /// Makes a kept call again.
    pub(crate) fn replay<W: World>(&self, call: &Call<'_, W, Value>, answers: Tape) -> CallOutcome {
        CallOutcome::of(self.call_with(call, answers).0)
    }

    fn call_with<W: World, R>(&self, call: &Call<'_, W, R>, tape: Tape) -> (Result<R, CallError>, Tape) {
        self.caller.call_with(call.task, tape, |store| {
            let instance = call.world.instantiate(store)?;
            if let Err(error) = call.world.configure(&instance, store, &self.configuration)? {
                let message = legible(&error.message, State::MESSAGE_BYTES);
                let message = format!("it refuses its configuration, which it had accepted before: {message}");
                return Ok(Err(CallFailure::Refused { why: Refusal::Other, message }));
            }
            (call.ask)(&instance, store)
        })
    }

    /// The last call of this task failed, and others are to do its work.
    pub(crate) fn forgive(&self, task: Task<'_>) {
        self.caller.forgive(task);
    }

    /// An answer that came back in good order and breaks the contract all the same.
    pub(crate) fn unacceptable(&self, task: Task<'_>, reason: String) -> CallError {
        self.caller.unacceptable(task, reason)
    }
}

/// A component of more bytes is not compiled: that takes many times its size in memory, and no limit can be set to it.
/// Those that carry a Python interpreter have some forty million.
const LARGEST: usize = 256 << 20;

/// `digest` is the SHA-256 of the bytes.
pub(crate) fn load(host: &PluginHost, bytes: &[u8], digest: String) -> Result<Plugin, LoadError> {
    if bytes.len() > LARGEST {
        return Err(LoadError::TooLarge { digest, bytes: bytes.len(), limit: LARGEST });
    }
    check_version(bytes, &digest)?;
    let compiled = host.compile(bytes, &digest);
    let component = compiled.map_err(|error| LoadError::Compile { digest: digest.clone(), reason: told(&error) })?;

    let unnamed = PluginIdentity::unnamed(digest.clone());
    let limits = |kind| host.limits().unwrap_or_else(|| Limits::of(kind));
    let caller = Caller {
        engine: host.engine().clone(),
        plugin: unnamed,
        limits: limits(Kind::DiscoveryRule),
        meter: Arc::clone(host.meter()),
        keeper: None,
    };
    let description = describe(host, &caller, &component)?;
    let identity = PluginIdentity { name: description.name.clone(), version: description.version.clone(), digest };
    let instances = instances(host, &component, description.kind).map_err(|error| LoadError::World {
        plugin: identity.clone(),
        world: description.kind.name(),
        reason: told(&error),
    })?;
    let caller =
        Caller { plugin: identity.clone(), limits: limits(description.kind), keeper: host.keeper(bytes), ..caller };
    Ok(Plugin { identity, description, caller, instances, granted: Vec::new() })
}

/// An error of the engine with its causes, on one line.
fn told(error: &wasmtime::Error) -> String {
    one_line(&format!("{error:#}"))
}

fn check_version(bytes: &[u8], digest: &str) -> Result<(), LoadError> {
    match api_version::read(bytes) {
        Ok(version) if version.runs_on(ApiVersion::CURRENT) => Ok(()),
        Ok(found) => Err(LoadError::Unsupported { digest: digest.to_owned(), found }),
        Err(source) => Err(LoadError::ApiVersion { digest: digest.to_owned(), source }),
    }
}

fn describe(host: &PluginHost, caller: &Caller, component: &Component) -> Result<Description, LoadError> {
    let unnamed = || caller.plugin.clone();
    let base = host.linkers().base.instantiate_pre(component).and_then(BasePre::new);
    let base = base.map_err(|error| LoadError::World { plugin: unnamed(), world: "base", reason: told(&error) })?;
    let task = Task { stage: "describe", item: "itself", source: "" };
    let described = caller.call(task, |store| base.instantiate(&mut *store)?.call_describe(store).map(Ok))?;
    checked_description(described).map_err(|reason| LoadError::Description { plugin: unnamed(), reason })
}

/// A person is to read and grant each of them.
const MOST_PERMISSIONS: usize = 16;

/// Of the documentation of a plugin: longer ones nobody reads.
const DOCUMENTATION_BYTES: usize = 64 << 10;

fn checked_description(described: types::Description) -> Result<Description, String> {
    let types::Description { name, version, kind, documentation, configuration_schema, permissions } = described;
    let kind = Kind::from(kind);
    if !is_plain(&name) {
        let name = quoted(&name);
        return Err(format!("its name is {name}, and a name has lower-case letters, digits and hyphens"));
    }
    if !is_version(&version) {
        let version = quoted(&version);
        return Err(format!("the version of {name} is {version}, and a version is like 1.2.0"));
    }
    let configuration_schema: Value = serde_json::from_str(&configuration_schema)
        .map_err(|error| format!("the schema of the configuration of {name} {version} is not JSON: {error}"))?;
    if !configuration_schema.is_object() {
        return Err(format!("the schema of the configuration of {name} {version} is not a JSON object"));
    }
    let permissions = checked_permissions(kind, permissions)?;
    let documentation = legible(&documentation, DOCUMENTATION_BYTES);
    Ok(Description { name, version, kind, documentation, configuration_schema, permissions })
}

fn checked_permissions(kind: Kind, asked: Vec<types::Permission>) -> Result<Vec<Permission>, String> {
    if asked.len() > MOST_PERMISSIONS {
        return Err(format!("it asks for {} permissions, and {MOST_PERMISSIONS} are the most", asked.len()));
    }
    let mut permissions: Vec<Permission> = Vec::new();
    for types::Permission { name, scope, why } in asked {
        let permission = Permission::read(&name, &scope, why)?;
        let right = &permission.right;
        if kind != Kind::RepoShim {
            return Err(format!("it asks for {right}, and a {kind} has no function to use that with"));
        }
        if permissions.iter().any(|other| other.right == *right) {
            return Err(format!("it asks for {right} twice"));
        }
        permissions.push(permission);
    }
    Ok(permissions)
}

/// Three numbers, and what semantic versioning allows behind them; 64 bytes at most.
fn is_version(version: &str) -> bool {
    let plain = |character: char| character.is_ascii_alphanumeric() || matches!(character, '.' | '-' | '+');
    let parts: Vec<&str> = version.split(['-', '+']).next().unwrap_or_default().split('.').collect();
    let is_numbered = parts.len() == 3 && parts.iter().all(|part| part.parse::<u32>().is_ok());
    is_numbered && version.len() <= 64 && version.chars().all(plain)
}

/// Fails where the component imports what its world does not have, or lacks one of its exports.
fn instances(host: &PluginHost, component: &Component, kind: Kind) -> wasmtime::Result<Instances> {
    let linkers = host.linkers();
    Ok(match kind {
        Kind::DiscoveryRule => {
            Instances::DiscoveryRule(DiscoveryRulePre::new(linkers.discovery_rule.instantiate_pre(component)?)?)
        }
        Kind::RepoShim => Instances::RepoShim(RepoShimPre::new(linkers.repo_shim.instantiate_pre(component)?)?),
        Kind::DedupStrategy => {
            Instances::DedupStrategy(DedupStrategyPre::new(linkers.dedup_strategy.instantiate_pre(component)?)?)
        }
        Kind::SpecEmitter => {
            Instances::SpecEmitter(SpecEmitterPre::new(linkers.spec_emitter.instantiate_pre(component)?)?)
        }
    })
}
