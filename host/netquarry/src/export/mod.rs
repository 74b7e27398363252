//! What others read a library as: a table, a dataset with a card, a bill of materials.
//!
//! Every export is a function of the library's records and bundles alone: nothing of `run.json`, which may differ between
//! two equal runs, goes into one, and no date. Equal libraries give equal bytes.

pub mod blocks;
pub mod card;
pub mod dataset;
pub mod output;
pub mod sbom;
pub mod table;
pub mod tally;
pub mod terms;

use std::path::Path;

use output::{NewFile, WrittenFile};
use table::{Row, Table};
use tally::Tally;
use terms::CodePolicy;

use crate::problem::Problem;

/// What an export has written.
pub struct Exported {
    pub files: Vec<WrittenFile>,
    pub tally: Tally,
}

/// Writes the promoted blocks of a library as one table. A block that cannot be read goes to `damaged` and is left out.
///
/// # Errors
/// There is no library, or the file cannot be written.
pub fn parquet(
    library: &Path,
    place: &Path,
    policy: CodePolicy,
    damaged: &mut dyn FnMut(Problem),
) -> Result<Exported, Problem> {
    let blocks = blocks::blocks(library)?;
    let mut tally = Tally::default();
    let mut table = Table::begin(NewFile::begin(place)?, place.display().to_string(), policy)?;
    for block in blocks {
        match block {
            Ok(block) => push(&mut table, &mut tally, &block, policy)?,
            Err(problem) => damaged(problem),
        }
    }
    Ok(Exported { files: vec![table.finish()?], tally })
}

/// Adds a block to a table and to what is counted.
fn push(table: &mut Table, tally: &mut Tally, block: &blocks::Block, policy: CodePolicy) -> Result<(), Problem> {
    let left_out = policy.refusal(block.record.license.as_deref());
    tally.add(&block.record, left_out.as_deref());
    table.push(Row { record: &block.record, code: left_out.as_deref().map_or(Ok(&block.code), Err) })
}
