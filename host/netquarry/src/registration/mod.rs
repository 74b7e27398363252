//! Implementations that somebody or something wrote from a spec, held to it.

pub mod compare;
pub mod record;
pub mod spec;
