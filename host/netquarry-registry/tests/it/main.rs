//! The tests of this crate that use files or a server on loopback.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod fetching;
mod first_party;
mod folders;
mod index_format;
mod locks;
mod mirrors;
#[cfg(feature = "oci")]
mod oci;
mod resolution;
mod server;
mod signatures;
mod support;
