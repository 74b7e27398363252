//! The output folder: what lies where, and that it is ours.

pub mod bundles;
pub mod costs;
pub mod distribution_name;
pub mod folder;
pub mod header;
pub mod inexact;
pub mod lock;
pub mod manifest;
pub mod names;
pub mod notice;
pub mod records;
pub mod reproduction;
pub mod required;
pub mod requirements;
pub mod run_record;
