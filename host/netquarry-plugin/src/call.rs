//! One call of a plugin: a fresh store with its limits, and what came of it.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use wasmtime::component::ResourceTable;
use wasmtime::{Engine, Store, Trap};

use crate::bindings::base::netquarry::plugin::{log, types};
use crate::cost::{Cost, Meter};
use crate::error::{
    CallError, CallFailure, LogLevel, LogMessage, Misuse, PluginIdentity, Refusal, Unanswered, legible,
};
use crate::host::TICK;
use crate::kept::Keeper;
use crate::limits::{Allowance, Limits};
use crate::tape::Tape;

/// What the host keeps about a call while it runs.
pub(crate) struct State {
    plugin: PluginIdentity,
    allowance: Allowance,
    /// The last messages.
    log: VecDeque<LogMessage>,
    logged: usize,
    pub(crate) resources: ResourceTable,
    /// How many of them are structure indexes.
    pub(crate) structure_indexes: usize,
    /// Calls of the host's functions so far.
    pub(crate) host_calls: Cell<u64>,
    pub(crate) tape: RefCell<Tape>,
}

impl State {
    const MESSAGES: usize = 1000;
    const MESSAGES_KEPT: usize = 20;
    /// Of a message, or of the reason of a refusal: longer ones nobody reads.
    pub(crate) const MESSAGE_BYTES: usize = 4096;
}

impl types::Host for State {}

impl log::Host for State {
    fn log(&mut self, level: log::Level, message: String) -> wasmtime::Result<()> {
        self.host_calls.set(self.host_calls.get() + 1);
        self.logged += 1;
        if self.logged > Self::MESSAGES {
            return Err(wasmtime::Error::msg("the limit on messages is reached"));
        }
        let message = legible(&message, Self::MESSAGE_BYTES);
        let (level, plugin) = (LogLevel::from(level), &self.plugin.name);
        // A call that is made again has said it before.
        match level {
            _ if !matches!(*self.tape.borrow(), Tape::Off) => {}
            LogLevel::Debug => tracing::debug!(plugin, "{message}"),
            LogLevel::Info => tracing::info!(plugin, "{message}"),
            LogLevel::Warning => tracing::warn!(plugin, "{message}"),
            LogLevel::Error => tracing::error!(plugin, "{message}"),
        }
        if self.log.len() == Self::MESSAGES_KEPT {
            self.log.pop_front();
        }
        self.log.push_back(LogMessage { level, text: message });
        Ok(())
    }
}

impl From<log::Level> for LogLevel {
    fn from(level: log::Level) -> Self {
        match level {
            log::Level::Debug => Self::Debug,
            log::Level::Info => Self::Info,
            log::Level::Warning => Self::Warning,
            log::Level::Error => Self::Error,
        }
    }
}

/// Makes calls of one plugin.
#[derive(Clone)]
pub(crate) struct Caller {
    pub(crate) engine: Engine,
    pub(crate) plugin: PluginIdentity,
    pub(crate) limits: Limits,
    pub(crate) meter: Arc<Meter>,
    /// Keeps calls that fail, where somebody wants them.
    pub(crate) keeper: Option<Arc<Keeper>>,
}

/// What the plugin was asked to do, for errors.
#[derive(Clone, Copy)]
pub(crate) struct Task<'a> {
    pub(crate) stage: &'static str,
    /// Empty where the call is not about an item of work.
    pub(crate) item: &'a str,
    /// The name of the source that it is about, for the costs; empty where that is none or several.
    pub(crate) source: &'a str,
}

impl Caller {
    /// Runs `work` in a store of its own. `work` instantiates the component and calls it; an error of `wasmtime` that
    /// it passes on becomes a failure of the call, and so does an `Err` inside.
    pub(crate) fn call<R>(
        &self,
        task: Task<'_>,
        work: impl FnOnce(&mut Store<State>) -> wasmtime::Result<Result<R, CallFailure>>,
    ) -> Result<R, CallError> {
        self.call_with(task, Tape::Off, work).0
    }

    /// The same with a tape, which comes back with what was recorded on it.
    pub(crate) fn call_with<R>(
        &self,
        task: Task<'_>,
        tape: Tape,
        work: impl FnOnce(&mut Store<State>) -> wasmtime::Result<Result<R, CallFailure>>,
    ) -> (Result<R, CallError>, Tape) {
        let started = Instant::now();
        // A call that is made again has been counted before.
        let counts = matches!(tape, Tape::Off);
        let mut store = self.store(tape);
        let result = work(&mut store);
        if counts {
            let cost = Cost {
                calls: 1,
                failed: u64::from(!matches!(result, Ok(Ok(_)))),
                fuel: self.limits.fuel - store.get_fuel().expect("the engine is set up to consume fuel"),
                time: started.elapsed(),
                peak_memory: store.data().allowance.used(),
                host_calls: store.data().host_calls.get(),
            };
            self.meter.add(&self.plugin, task.stage, task.source, cost);
        }
        let mut state = store.into_data();
        let tape = state.tape.take();
        let failure = match result {
            Ok(Ok(value)) => return (Ok(value), tape),
            Ok(Err(failure)) => failure,
            Err(error) => self.failure(&error, &state),
        };
        let Task { stage, item, .. } = task;
        let log = std::mem::take(&mut state.log).into();
        (Err(CallError { plugin: self.plugin.clone(), stage, item: item.to_owned(), failure, log, kept: None }), tape)
    }

    /// A call that failed costs nothing where others do its work.
    pub(crate) fn forgive(&self, Task { stage, source, .. }: Task<'_>) {
        self.meter.forgive(&self.plugin, stage, source);
    }

    /// An answer that came back in good order and breaks the contract all the same.
    pub(crate) fn unacceptable(&self, task: Task<'_>, reason: String) -> CallError {
        let Task { stage, item, source } = task;
        // The call itself was counted as one that gave a result.
        self.meter.add(&self.plugin, stage, source, Cost { failed: 1, ..Cost::default() });
        let failure = CallFailure::Answer(reason);
        CallError { plugin: self.plugin.clone(), stage, item: item.to_owned(), failure, log: Vec::new(), kept: None }
    }

    fn store(&self, tape: Tape) -> Store<State> {
        let state = State {
            plugin: self.plugin.clone(),
            allowance: Allowance::new(self.limits.memory),
            log: VecDeque::new(),
            logged: 0,
            resources: ResourceTable::new(),
            structure_indexes: 0,
            host_calls: Cell::new(0),
            tape: RefCell::new(tape),
        };
        let mut store = Store::new(&self.engine, state);
        store.limiter(|state| &mut state.allowance);
        store.set_fuel(self.limits.fuel).expect("the engine is set up to consume fuel");
        // One tick more, because the current one may be nearly over.
        let ticks = self.limits.deadline.as_nanos() / TICK.as_nanos() + 1;
        store.set_epoch_deadline(u64::try_from(ticks).unwrap_or(u64::MAX / 2));
        store.epoch_deadline_trap();
        store.set_hostcall_fuel(self.limits.transfer);
        store
    }

    fn failure(&self, error: &wasmtime::Error, state: &State) -> CallFailure {
        let Limits { fuel, memory, transfer, deadline, .. } = self.limits;
        if let Some(wanted) = state.allowance.refused {
            return CallFailure::Memory { wanted, limit: memory };
        }
        if state.logged > State::MESSAGES {
            return CallFailure::Log { limit: State::MESSAGES };
        }
        match error.downcast_ref::<Trap>() {
            Some(Trap::OutOfFuel) => return CallFailure::Fuel { fuel },
            Some(Trap::Interrupt) => return CallFailure::Deadline { deadline },
            Some(trap) => {
                let reason = trap.to_string();
                return CallFailure::Trap(reason.strip_prefix("wasm trap: ").unwrap_or(&reason).to_owned());
            }
            None => {}
        }
        if let Some(Misuse(reason)) = error.downcast_ref::<Misuse>() {
            return CallFailure::Misuse(reason.clone());
        }
        if let Some(Unanswered(reason)) = error.downcast_ref::<Unanswered>() {
            return CallFailure::Unanswered(reason.clone());
        }
        let reason = one_line(&error.root_cause().to_string());
        // wasmtime keeps the type of this error to itself.
        if reason.contains("fuel allocated for hostcalls has been exhausted") {
            return CallFailure::Transfer { limit: transfer };
        }
        CallFailure::Breach(reason)
    }
}

/// What the plugin says in its own words, at a length that a person reads.
impl From<types::Refusal> for CallFailure {
    fn from(refusal: types::Refusal) -> Self {
        let (why, message) = match refusal {
            types::Refusal::Input(message) => (Refusal::Input, message),
            types::Refusal::Unsupported(message) => (Refusal::Unsupported, message),
            types::Refusal::Host(message) => (Refusal::Host, message),
            types::Refusal::Other(message) => (Refusal::Other, message),
        };
        Self::Refused { why, message: legible(&message, State::MESSAGE_BYTES) }
    }
}

/// The engine's words, which it breaks into lines of its own.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
