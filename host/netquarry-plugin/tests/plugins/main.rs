//! The plugin host with the first-party components and with hostile ones.

mod cases;
mod compiled;
mod contract;
mod first_party;
mod guest;
mod hostile;
#[path = "../../src/sections.rs"]
mod sections;
mod support;
