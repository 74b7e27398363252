//! What two codes have in common, by text and by structure: the kernels that deduplication strategies call.
//!
//! Rules are those of NN-DUP 2.2.4 on CPython 3.11, to the token, so that its decisions can be reproduced: code becomes
//! normalised tokens ([`tokens`]), tokens become [`shingles`], shingles become a [`minhash`] signature, signatures that
//! collide in a band are candidates ([`banding`]), and [`shingles::jaccard`] decides. [`structure`] looks at calls and
//! hyperparameters instead of tokens. [`blocks`] puts all of them behind [`crate::dedup::BlockSet`].
//!
//! Codes that are bundles consist of the same statements over and over, so [`statements`] reads each statement once, for
//! all codes that it stands in; what comes out is what the kernels make of whole codes. What grows with the length of codes
//! goes to a [`shelf`], and what an earlier run computed comes from an [`archive`].
//!
//! Which pairs signatures propose depends on their hash functions. Those of `datasketch`, with which NN-DUP's decisions were
//! made, are `(a * h + b) mod (2^61 - 1)` with `a` and `b` drawn by NumPy; those of `minhash-rs` are steps of a xorshift
//! generator and take no parameters, so they cannot be the same. Both start from the SHA-1 of a shingle and estimate the
//! same similarity, but near the threshold they miss different pairs. So the former are there for NN-DUP's preset, and
//! everything else uses the crate.

pub mod archive;
pub mod banding;
pub mod blocks;
pub mod minhash;
pub mod shelf;
pub mod shingles;
pub mod structure;
pub mod tokens;

mod canonical;
mod clusters;
mod datasketch;
mod memo;
mod prefixes;
mod ragged;
mod region;
mod split;
mod statement;
mod statements;
pub(crate) mod tokenizer;
