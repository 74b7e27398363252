//! What confines processes on this machine: tried, rather than believed.
//!
//! A child that runs nobody's code confines itself as any other and tries, after each step, what that step has to
//! refuse: to read a file of the host, to connect to it, to signal the worker. A layer counts whose attempt was refused.

use std::fs;
use std::net::TcpListener;
use std::os::fd::AsFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;

use netquarry_core::verdict::{Level, Tier};

use super::access::{Access, Grant};
use super::protocol::{ChildJob, Event, Probe, Settings};
use super::scratch::Scratch;
use super::worker::Worker;
use super::{Limits, ValidateError, filter, program};
use crate::environment::Environment;

/// The layers of [`Tier::Confined`]: the others are parts of these, or add to them.
const CONFINED: [&str; 4] = ["landlock-files", "no-new-privileges", "rlimits", "system-call-filter"];

/// What lies outside of every sandbox, for a canary to try to read and to change.
const CANARY: &str = "This file is out of reach.\n";

/// What the scratch folder of the child that tries may take: little, so that it is soon full.
const SCRATCH_BYTES: u64 = 1 << 20;

/// How many files it may take at most, whatever part of the limit each counts as.
const SCRATCH_FILES: u64 = 1000;

/// What a process of ours is in that is none of the host's, by the names in `/proc/self/ns`.
const NAMESPACES: [&str; 4] = ["ipc", "mnt", "net", "user"];

/// The layers that hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sandbox {
    /// By the names that verdicts give them, sorted.
    pub layers: Vec<String>,
}

impl Sandbox {
    pub fn tier(&self) -> Tier {
        if self.missing().is_empty() { Tier::Confined } else { Tier::Limited }
    }

    pub(super) fn has(&self, layer: &str) -> bool {
        self.layers.iter().any(|held| held == layer)
    }

    /// Those of the layers that a child says it has.
    pub(super) fn and(&self, reported: &[String]) -> Self {
        let layers = self.layers.iter().filter(|layer| reported.contains(layer)).cloned().collect();
        Self { layers }
    }

    /// The layers that [`Tier::Confined`] takes and that are not there.
    fn missing(&self) -> Vec<&'static str> {
        CONFINED.into_iter().filter(|layer| !self.has(layer)).collect()
    }

    /// Whether foreign code may run here. Below [`Level::Execute`] none does.
    pub(super) fn check(&self, level: Level, allow_weak: bool) -> Result<(), ValidateError> {
        if level < Level::Execute || allow_weak || self.tier() >= Tier::Confined {
            return Ok(());
        }
        Err(ValidateError::WeakSandbox { missing: self.missing().join(", ") })
    }
}

/// Finds out which layers hold; takes as long as Python takes to start.
///
/// # Errors
/// No worker can be started.
pub fn probe(environment: &Environment) -> Result<Sandbox, ValidateError> {
    let folder = program::write()?;
    let limits = Limits { file_bytes: SCRATCH_BYTES, ..Limits::default() };
    let access = Access::new(environment);
    let settings = Settings {
        warm: &[],
        limits: &limits,
        landlock: &access.protections,
        filters: &filter::programs(),
        own_process: filter::OWN_PROCESS,
        namespaces: true,
        private_scratch: true,
        scratch_rights: access.scratch_rights,
        required: &[],
    };
    let worker = Worker::start(environment, folder.path(), &settings)?;
    let outside = Outside::new(folder.path())?;
    let scratch = Scratch::new(folder.path());
    let scratch = scratch.map_err(|source| program::io_error("make a folder in", folder.path(), source))?;
    let ruleset = access.ruleset(&Grant { read: Vec::new(), write: scratch.path().to_owned() })?;
    let job = ChildJob {
        token: &super::pool::token(),
        file: "",
        class_name: "",
        level: Level::Parse.name(),
        blocked_packages: &[],
        operator_packages: &[],
        layers: Vec::new(),
        arguments: None,
        suggested: None,
        sites: &[],
        scratch: &scratch.path().to_string_lossy(),
        memory_bytes: limits.memory_bytes,
        may_have_more: false,
        file_bytes: limits.file_bytes,
        replay: None,
        challenge: None,
        studies: false,
        lookups: None,
        harvest: None,
        probe: Some(&outside.probe),
    };
    let mut layers = match worker.run(&job, ruleset.as_ref().map(AsFd::as_fd), &limits) {
        Ok(run) if !run.forged => run.events.into_iter().find_map(|event| match event {
            Event::Confined { protections } => Some(protections),
            _ => None,
        }),
        // A worker that its child could end is no place for foreign code.
        Ok(_) | Err(_) => None,
    }
    .unwrap_or_default();
    layers.retain(|layer| match layer.as_str() {
        "landlock-files" => outside.is_untouched(),
        "private-scratch" => is_empty(scratch.path()),
        _ => true,
    });
    layers.sort();
    let sandbox = Sandbox { layers };
    tracing::debug!(tier = sandbox.tier().name(), layers = ?sandbox.layers, "tried the sandbox");
    Ok(sandbox)
}

/// A folder that cannot be read is not known to be.
fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
}

/// What a canary tries to get at. All of it is gone with the value.
struct Outside {
    probe: Probe,
    /// A listener that nobody asks to connect is enough for a connection to succeed.
    _listeners: (TcpListener, UnixListener),
}

impl Outside {
    fn new(folder: &Path) -> Result<Self, ValidateError> {
        let failed = |source| program::io_error("make something for a canary in", folder, source);
        let file = folder.join("canary");
        fs::write(&file, CANARY).map_err(failed)?;
        let local = TcpListener::bind(("127.0.0.1", 0)).map_err(failed)?;
        let name = format!("netquarry-canary-{}", super::pool::token());
        let address = SocketAddr::from_abstract_name(&name).map_err(failed)?;
        let listener = UnixListener::bind_addr(&address).map_err(failed)?;
        let port = local.local_addr().map_err(failed)?.port();
        // One that this kernel does not have is missing.
        let namespace = |kind| Some((kind, fs::read_link(Path::new("/proc/self/ns").join(kind)).ok()?));
        let probe = Probe {
            file,
            port,
            abstract_socket: name,
            namespaces: NAMESPACES.into_iter().filter_map(namespace).collect(),
            scratch_bytes: SCRATCH_BYTES,
            scratch_files: SCRATCH_FILES,
        };
        Ok(Self { probe, _listeners: (local, listener) })
    }

    fn is_untouched(&self) -> bool {
        fs::read_to_string(&self.probe.file).is_ok_and(|text| text == CANARY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tier_takes_every_layer_of_it() {
        let sandbox = |layers: &[&str]| Sandbox { layers: layers.iter().map(|&layer| layer.to_owned()).collect() };
        let whole = sandbox(&CONFINED);
        assert_eq!(whole.tier(), Tier::Confined);
        assert!(whole.check(Level::Execute, false).is_ok());
        for left_out in CONFINED {
            let rest: Vec<&str> = CONFINED.into_iter().filter(|layer| *layer != left_out).collect();
            let weak = sandbox(&rest);
            assert_eq!(weak.tier(), Tier::Limited, "without {left_out}");
            let refused = weak.check(Level::Execute, false).unwrap_err();
            assert!(refused.to_string().contains(left_out), "{refused}");
            assert!(weak.check(Level::Execute, true).is_ok());
            assert!(weak.check(Level::Compile, false).is_ok(), "no foreign code runs");
        }
    }
}
