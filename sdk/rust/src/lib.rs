//! Write NetQuarry plugins in Rust.
//!
//! A plugin is a type that implements [`Plugin`] and the trait of its kind, and one line that exports it:
//!
//! ```
//! use netquarry_sdk::discovery::{Category, ClassDescription, DiscoveryRule, Proposal};
//! use netquarry_sdk::{ConfigurationError, NoConfiguration, Plugin, Refusal};
//!
//! /// Takes every class whose name ends in "Head".
//! struct Heads;
//!
//! impl Plugin for Heads {
//!     const NAME: &str = "discover-heads";
//!     const VERSION: &str = "0.1.0";
//!     const DOCUMENTATION: &str = "Takes every class whose name ends in `Head`.";
//!     type Configuration = NoConfiguration;
//!
//!     fn new(_: NoConfiguration) -> Result<Self, ConfigurationError> {
//!         Ok(Self)
//!     }
//! }
//!
//! impl DiscoveryRule for Heads {
//!     fn discover(&self, classes: &[ClassDescription]) -> Result<Vec<Proposal>, Refusal> {
//!         let heads = (0..).zip(classes).filter(|(_, class)| class.name.ends_with("Head"));
//!         let propose = |(index, _)| {
//!             let reason = "it is named a head".to_owned();
//!             Proposal { index, category: Category::Utility, reason }
//!         };
//!         Ok(heads.map(propose).collect())
//!     }
//! }
//!
//! netquarry_sdk::export!(Heads as DiscoveryRule);
//! ```
//!
//! The crate is built as a `cdylib` for `wasm32-unknown-unknown`, and as an `rlib` for its tests: natively everything
//! works but the imports of the host, for which each kind has a trait that a test implements (see [`dedup::Blocks`] and
//! [`shim::CodeIndex`]).
//!
//! # From a crate to a component
//!
//! With the target (`rustup target add wasm32-unknown-unknown`) and [`wasm-tools`](https://github.com/bytecodealliance/wasm-tools):
//!
//! ```console
//! $ cargo build --release --target wasm32-unknown-unknown
//! $ wasm-tools strip --delete 'with-all-of-its-exports-removed' \
//!     target/wasm32-unknown-unknown/release/discover_heads.wasm -o module.wasm
//! $ wasm-tools component new module.wasm -o discover-heads.wasm
//! $ printf '\0\032\024netquarry-plugin-api0.1.0' >> discover-heads.wasm
//! $ netquarry discover --discover discover-heads.wasm
//! ```
//!
//! The second step takes out what describes the worlds of the other kinds, whose bindings are in this crate too: the
//! component would import their interfaces and be refused. The fourth appends the custom section by which the host knows the version of the contract, [`API_VERSION`]: its
//! kind, its length, the length of its name, name and version. `[plugins]` in `netquarry.toml` takes the path of the
//! component too.
//!
//! What the fields mean and which limits hold is written in the WIT package `netquarry:plugin`.

#[doc(hidden)]
pub mod bindings;
pub mod dedup;
pub mod discovery;
pub mod emit;
#[doc(hidden)]
pub mod export;
pub mod log;
mod plugin;
#[cfg(not(target_family = "wasm"))]
pub mod replay;
pub mod shim;
#[cfg(not(target_family = "wasm"))]
pub mod testing;

pub use crate::bindings::discovery_rule::netquarry::plugin::types::{
    ConfigurationError, Description, Example, Kind, Permission, Refusal,
};
pub use crate::plugin::{NoConfiguration, Plugin, configured};

/// The version of the WIT package that plugins of this crate are written against.
pub const API_VERSION: &str = "0.1.0";

#[cfg(test)]
mod tests {
    use super::API_VERSION;

    #[test]
    fn the_version_is_that_of_the_wit_package() {
        let wit = include_str!("../../../wit/base.wit");
        assert!(wit.contains(&format!("package netquarry:plugin@{API_VERSION};")));
        assert!(include_str!("lib.rs").contains(&format!("netquarry-plugin-api{API_VERSION}'")));
    }
}
