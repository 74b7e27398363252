//! NetQuarry, the program: reads the command line, runs the stages in order, and writes the library.
//!
//! The stages themselves live in the other crates. Here is what holds them together: [`driver`] alone knows their
//! order, parallelism and resumption; [`library`] alone knows how the output folder looks; everything that is said to
//! the user goes through [`console`].

pub mod arguments;
pub mod audit;
pub mod authoring;
pub mod commands;
pub mod configuration;
pub mod console;
pub mod course;
pub mod curation;
pub mod driver;
pub mod environment;
pub mod explain;
pub mod export;
pub mod findings;
pub mod folder_lock;
mod hints;
pub mod interrupt;
pub mod interval;
pub mod library;
pub mod models;
pub mod problem;
pub mod quantity;
pub mod registration;
pub mod report;
pub mod requirements;
pub mod spool;
pub mod summary;
pub mod table;
pub mod temporary;
pub mod validate;
mod verdict_text;
pub mod verify;
