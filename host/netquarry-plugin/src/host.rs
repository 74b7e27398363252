//! The engine that all plugins of a process share.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use sha2::{Digest, Sha256};
use wasmtime::component::{Component, HasSelf, Linker};
use wasmtime::{Config, Engine};

use crate::bindings;
use crate::cache::{CompiledCache, hexadecimal};
use crate::call::State;
use crate::cost::Meter;
use crate::error::LoadError;
use crate::first_party::EmbeddedComponent;
use crate::kept::Keeper;
use crate::limits::Limits;
use crate::plugin::Plugin;

/// How a host is set up.
#[derive(Clone, Debug, Default)]
pub struct HostOptions {
    /// The folder for compiled components; it is made, for this user alone, where it does not exist. Without one, every
    /// component is compiled anew. A folder that cannot be used is reported in the log and then passed over.
    pub compiled_cache: Option<PathBuf>,
    /// Takes the place of [`Limits::of`] for every kind.
    pub limits: Option<Limits>,
    /// The folder for calls that fail ([`crate::kept`]); none is kept without one.
    pub kept_calls: Option<PathBuf>,
}

#[derive(Debug, thiserror::Error)]
pub enum HostError {
    #[error("this machine cannot run WebAssembly components: {0}")]
    Engine(String),
    #[error("the watchdog of the plugins cannot be started")]
    Watchdog(#[source] std::io::Error),
}

/// Loads plugins. Cheap to share between threads, and so are the plugins that come out of it.
pub struct PluginHost {
    engine: Engine,
    linkers: Linkers,
    cache: Option<CompiledCache>,
    limits: Option<Limits>,
    meter: Arc<Meter>,
    kept_calls: Option<PathBuf>,
}

/// What a component may import, by kind.
pub(crate) struct Linkers {
    /// Everything: for the first look at a component, whose kind is not known yet.
    pub(crate) base: Linker<State>,
    pub(crate) discovery_rule: Linker<State>,
    pub(crate) repo_shim: Linker<State>,
    pub(crate) dedup_strategy: Linker<State>,
    pub(crate) spec_emitter: Linker<State>,
}

/// How often the deadlines of running calls are looked at.
pub(crate) const TICK: Duration = Duration::from_millis(50);

impl PluginHost {
    /// Sets the engine up and starts its watchdog.
    ///
    /// # Errors
    ///
    /// Where the machine is not one that can be compiled for, or a thread cannot be started.
    pub fn new(options: HostOptions) -> Result<Self, HostError> {
        let engine = engine().map_err(|error| HostError::Engine(format!("{error:#}")))?;
        let linkers = Linkers::new(&engine).map_err(|error| HostError::Engine(format!("{error:#}")))?;
        watch(&engine).map_err(HostError::Watchdog)?;
        let open = |folder: PathBuf| match CompiledCache::open(folder, &engine) {
            Ok(cache) => Some(cache),
            Err(error) => {
                tracing::warn!("compiled plugins are not kept: {error}");
                None
            }
        };
        let cache = options.compiled_cache.and_then(open);
        Ok(Self {
            engine,
            linkers,
            cache,
            limits: options.limits,
            meter: Arc::default(),
            kept_calls: options.kept_calls,
        })
    }

    /// Checks a component, compiles it or takes the compiled form from the cache, and asks it what it is.
    ///
    /// # Errors
    ///
    /// Where it was written for another version of the contract, does not compile, imports what its world does not
    /// have, lacks an export, or fails to describe itself.
    pub fn load(&self, component: &[u8]) -> Result<Plugin, LoadError> {
        crate::plugin::load(self, component, hexadecimal(&Sha256::digest(component)))
    }

    /// The same for a component of the program, whose digest is known.
    ///
    /// # Errors
    ///
    /// As [`PluginHost::load`], which a program that passes its tests does not meet.
    pub fn load_first_party(&self, component: &EmbeddedComponent) -> Result<Plugin, LoadError> {
        crate::plugin::load(self, component.bytes, component.sha256.to_owned())
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    pub(crate) fn linkers(&self) -> &Linkers {
        &self.linkers
    }

    /// Adds up what the calls of its plugins take.
    pub fn meter(&self) -> &Arc<Meter> {
        &self.meter
    }

    /// What keeps the failing calls of a plugin.
    pub(crate) fn keeper(&self, component: &[u8]) -> Option<Arc<Keeper>> {
        self.kept_calls.clone().map(|folder| Arc::new(Keeper::new(folder, component)))
    }

    /// The limits that the user set for all kinds.
    pub(crate) fn limits(&self) -> Option<Limits> {
        self.limits
    }

    /// The component, compiled; from the cache where it is there.
    pub(crate) fn compile(&self, component: &[u8], digest: &str) -> wasmtime::Result<Component> {
        if let Some(compiled) = self.cache.as_ref().and_then(|cache| cache.load(&self.engine, digest)) {
            return Ok(compiled);
        }
        let compiled = Component::new(&self.engine, component)?;
        if let Some(cache) = &self.cache
            && let Err(error) = cache.store(digest, &compiled.serialize()?)
        {
            tracing::warn!("the compiled form of plugin sha256:{digest} is not kept: {error}");
        }
        Ok(compiled)
    }
}

fn engine() -> wasmtime::Result<Engine> {
    let mut config = Config::new();
    config.wasm_component_model(true);
    config.consume_fuel(true);
    config.epoch_interruption(true);
    // The same inputs give the same outputs, whatever the processor.
    config.cranelift_nan_canonicalization(true);
    config.wasm_relaxed_simd(false);
    Engine::new(&config)
}

impl Linkers {
    fn new(engine: &Engine) -> wasmtime::Result<Self> {
        type Own = HasSelf<State>;

        let mut linkers = Self {
            base: Linker::new(engine),
            discovery_rule: Linker::new(engine),
            repo_shim: Linker::new(engine),
            dedup_strategy: Linker::new(engine),
            spec_emitter: Linker::new(engine),
        };
        bindings::discovery_rule::DiscoveryRule::add_to_linker::<_, Own>(&mut linkers.discovery_rule, |state| state)?;
        bindings::repo_shim::RepoShim::add_to_linker::<_, Own>(&mut linkers.repo_shim, |state| state)?;
        bindings::dedup_strategy::DedupStrategy::add_to_linker::<_, Own>(&mut linkers.dedup_strategy, |state| state)?;
        bindings::spec_emitter::SpecEmitter::add_to_linker::<_, Own>(&mut linkers.spec_emitter, |state| state)?;
        let base = &mut linkers.base;
        base.allow_shadowing(true);
        bindings::discovery_rule::DiscoveryRule::add_to_linker::<_, Own>(base, |state| state)?;
        bindings::repo_shim::RepoShim::add_to_linker::<_, Own>(base, |state| state)?;
        bindings::dedup_strategy::DedupStrategy::add_to_linker::<_, Own>(base, |state| state)?;
        bindings::spec_emitter::SpecEmitter::add_to_linker::<_, Own>(base, |state| state)?;
        Ok(linkers)
    }
}

/// Starts the thread that moves the engine's clock; it ends when the engine is gone.
fn watch(engine: &Engine) -> Result<(), std::io::Error> {
    let engine = engine.weak();
    let tick = move || {
        loop {
            thread::sleep(TICK);
            match engine.upgrade() {
                Some(engine) => engine.increment_epoch(),
                None => return,
            }
        }
    };
    thread::Builder::new().name("plugin-watchdog".to_owned()).spawn(tick).map(|_| ())
}
