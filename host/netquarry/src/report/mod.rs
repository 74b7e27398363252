//! Pages that need nothing beside them: `report.html`, the paper's figures for a library, and the one of files that were
//! named.
//!
//! The first is a function of the manifest alone, the second of the verdicts, so that equal runs write equal pages.

mod figures;
mod page;
mod parts;
mod verdicts;

pub use page::{FILE_NAME, Page, html};
pub use verdicts::{JudgedFile, html_of_files};
