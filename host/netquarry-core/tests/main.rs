//! Data-driven tests of the pure core: a case is a file, and adding one needs no Rust.

#![expect(
    clippy::disallowed_methods,
    reason = "the crate is pure; its tests read cases, start threads and ask CPython"
)]

mod canonical;
mod closure;
mod fingerprints;
mod lineage;
mod sites;
mod syntax;
