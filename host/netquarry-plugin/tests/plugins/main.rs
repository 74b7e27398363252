//! The plugin host with the first-party components and with hostile ones.

mod first_party;
mod support;
