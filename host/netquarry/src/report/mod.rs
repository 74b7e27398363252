//! `report.html`: the paper's figures for this library, drawn into one file that needs nothing beside it.
//!
//! The page is a function of the manifest alone, so that equal runs write equal pages.

mod figures;
mod page;

pub use page::{FILE_NAME, Page, html};
