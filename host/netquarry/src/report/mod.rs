//! Pages that need nothing beside them: `report.html`, the paper's figures for a library, the one of files that were named,
//! and the one of a deduplication.
//!
//! The first is a function of the manifest alone, the others of the verdicts and decisions, so that equal runs write equal
//! pages.

mod deduplication;
mod figures;
mod page;
mod parts;
mod sweep;
mod verdicts;

pub use deduplication::html_of_deduplication;
pub use page::{FILE_NAME, Page, html};
pub use sweep::html_of_sweep;
pub use verdicts::{JudgedFile, html_of_files};
