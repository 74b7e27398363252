//! Stage 1, fetch: from a corpus to snapshots of its sources.
//!
//! A [`corpus::Corpus`] says which sources to mine; [`load::load`] reads one. [`fetch::fetch`] turns a source into a
//! [`snapshot::Snapshot`]: the Python files of a distribution, a git commit or a folder, with their digests and module
//! names, the licence texts and the packaging metadata. Nothing that is fetched is ever executed, and no name from an
//! archive becomes the name of a file.

mod cache;
mod contents;
pub mod corpus;
mod entry;
pub mod failure;
pub mod fetch;
mod git;
mod ini;
pub mod inventory;
mod license;
pub mod load;
mod local;
pub mod metadata;
mod modules;
mod paths;
pub mod progress;
pub mod provides;
pub mod pypi;
mod reference;
pub mod scope;
pub mod shipped;
pub mod snapshot;
mod unpack;
