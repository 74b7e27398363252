//! The plugin host with the first-party components and with hostile ones.

mod compiled;
mod first_party;
mod guest;
mod hostile;
mod support;
