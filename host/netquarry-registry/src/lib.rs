//! Registries of plugins: indexes, where components lie, what a project has pinned.
//!
//! A project's [`settings::RegistrySettings`] become [`settings::Registries`], and with [`catalog::Access`] a
//! [`catalog::Catalog`]. It turns a [`name::Request`] into a [`resolve::Resolved`] version, and that into bytes that have
//! the pinned digest and for which somebody vouches ([`fetch::Fetched`]). [`lock::Lock`] records all that, and from then on
//! nothing else runs. [`publish`] and [`vendor`] write registries, [`audit`] checks them.
//!
//! Nothing is believed: whatever an index, a mirror or the cache gives is bounded in size and compared with its digest
//! before anyone sees it.

pub mod agreement;
pub mod audit;
mod cache;
pub mod catalog;
pub mod digest;
pub mod fetch;
mod files;
pub mod index;
pub mod location;
pub mod lock;
pub mod name;
pub mod notice;
mod oci;
pub mod parse;
pub mod publish;
pub mod resolve;
pub mod settings;
pub mod signing;
mod site;
pub mod transfer;
pub mod trust;
pub mod vendor;
