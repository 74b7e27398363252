//! Verdicts on the bundles of a library once more, to be compared with its records.

use std::path::Path;

use netquarry_core::record::BlockRecord;
use netquarry_core::verdict::{Level, Outcome, Verdict};

use super::{Asked, file, judge};
use crate::configuration::Settings;
use crate::console::Console;
use crate::export::blocks::place;
use crate::problem::Problem;

/// Validates the bundles of these records, all up to the highest level that any of them was tried at. One that cannot be
/// read has no verdict.
pub(in crate::commands) fn again(
    library: &Path,
    records: Vec<BlockRecord>,
    settings: &Settings,
    console: &Console,
) -> Result<Vec<(BlockRecord, Verdict)>, Problem> {
    let Some(level) = records.iter().filter_map(tried).max() else { return Ok(Vec::new()) };
    let (mut blocks, mut jobs) = (Vec::new(), Vec::new());
    for record in records {
        // A record of unknown hands may name any file.
        let Some(path) = record.bundle.as_deref().and_then(|bundle| place(library, bundle)) else { continue };
        let Ok(named) = file::read(&path, None, Some(&record), console) else { continue };
        jobs.extend(named.jobs);
        blocks.push(Asked { file: path, library: Some((library.to_owned(), record)), packages: named.packages });
    }
    if jobs.is_empty() {
        return Ok(Vec::new());
    }
    let settings = Settings { level, ..settings.clone() };
    let (_, verdicts) = judge(&mut jobs, &blocks, &[], &settings, console)?;
    let records = blocks.into_iter().filter_map(|asked| asked.library).map(|(_, record)| record);
    Ok(records.zip(verdicts).collect())
}

/// The highest level that has an outcome in a record.
pub(in crate::commands) fn tried(record: &BlockRecord) -> Option<Level> {
    let is_known = |level: &Level| record.levels.get(level.name()).is_some_and(|outcome| *outcome != Outcome::Unknown);
    Level::ALL.into_iter().rev().find(is_known)
}
