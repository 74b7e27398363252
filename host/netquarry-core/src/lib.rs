//! The pure part of NetQuarry: text and facts in, facts and text out.
//!
//! Nothing here touches the file system, processes, the environment, the clock or randomness; `clippy.toml` beside this
//! crate bans the calls. Modules follow the data: `syntax` lowers the text of one file to [`facts`]; [`index`] gathers
//! the facts of all files; [`resolve`], [`closure`] and [`bundle`] turn one block into one self-contained file.

pub mod bundle;
pub mod closure;
pub mod dedup;
pub mod discovery;
pub mod dynamic;
pub mod facts;
pub mod fingerprint;
pub mod index;
pub mod license;
pub mod module;
pub mod provenance;
pub mod record;
pub mod resolve;
pub mod shim;
pub mod source;
pub mod stdlib;
pub mod structure;
pub mod swhid;
pub mod syntax;
pub mod taint;
pub mod verdict;
