//! The WebAssembly plugin host.
//!
//! [`PluginHost::load`] turns the bytes of a component into a [`Plugin`], which with a configuration becomes one of
//! [`DiscoveryRule`], [`RepoShim`], [`DedupStrategy`] and [`SpecEmitter`]. These speak the core's types; the types of
//! the contract in `wit/` stay inside this crate.
//!
//! Every call runs in a store of its own: nothing that a plugin keeps in its memory outlives the call, so results do
//! not depend on how calls are spread over threads, and a call that traps leaves nothing behind.

pub mod api_version;
pub mod asked;
mod bindings;
mod cache;
mod call;
pub mod cases;
mod cost;
mod dedup;
mod discovery;
mod emit;
pub mod emitted_path;
pub mod encode;
mod error;
mod first_party;
mod host;
pub mod kept;
mod limits;
mod permission;
mod plugin;
mod sections;
mod shim;
mod source_files;
mod tape;
pub mod toolchain;

pub use crate::cost::{Cost, CostEntry, Meter};
pub use crate::dedup::DedupStrategy;
pub use crate::discovery::{Discovery, DiscoveryRule};
pub use crate::emit::{AskedBlock, BlockAnswer, Emission, EmittedFile, Placement, SpecEmitter};
pub use crate::error::{
    CallError, CallFailure, ConfigureError, FailureClass, LoadError, LogLevel, LogMessage, PluginIdentity, Refusal,
    legible,
};
pub use crate::first_party::{EmbeddedComponent, first_party, first_party_registry};
pub use crate::host::{HostError, HostOptions, PluginHost};
pub use crate::limits::{Limits, PerBlock};
pub use crate::permission::{PathGlob, Permission, Right, Ungranted};
pub use crate::plugin::{Description, Example, Kind, Plugin};
pub use crate::shim::RepoShim;
pub use crate::source_files::{NoFiles, SourceFiles};
pub use crate::tape::{HostAnswer, HostCall, HostQuestion};
