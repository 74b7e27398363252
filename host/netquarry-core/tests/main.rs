//! Data-driven tests of the pure core: a case is a file, and adding one needs no Rust.

mod closure;
mod lineage;
mod syntax;
