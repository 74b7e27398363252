//! End to end, through the built program: a small corpus of its own, mined as a user would.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod bad_input;
mod blocks;
mod commands;
mod downstream;
mod equivalents;
mod export;
#[path = "../../host/netquarry-plugin/tests/plugins/guest.rs"]
mod guest;
mod hostile;
mod library;
mod licenses;
mod mutation;
mod nn_dup;
mod parity;
mod permissions;
mod planted;
mod plugins;
mod redecide;
mod registry;
mod report;
mod requirements;
mod resume;
mod sites;
mod support;
mod verify;
