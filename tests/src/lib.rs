//! What the end-to-end tests and the oracles share.

pub mod mutation;
pub mod oracle;
pub mod packages;
pub mod planted;
