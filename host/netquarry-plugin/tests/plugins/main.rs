//! The plugin host with the first-party components and with hostile ones.

mod cases;
mod compiled;
#[path = "../../build/components.rs"]
mod components;
mod contract;
mod first_party;
mod guest;
mod hostile;
mod kept;
mod reproducible;
#[path = "../../src/sections.rs"]
mod sections;
mod support;

// `components.rs` finds them where the build script has them.
use netquarry_plugin::{encode, toolchain};
