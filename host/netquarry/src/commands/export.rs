//! `netquarry export`: a library as a table, a dataset or a bill of materials.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;

use super::Ending;
use crate::arguments::{DatasetArguments, ExportCommand, LibraryInput, SbomArguments, TableArguments};
use crate::console::{Console, Format};
use crate::export::output::{self, WrittenFile};
use crate::export::{self, Exported, dataset, sbom};
use crate::problem::Problem;
use crate::quantity::{human_bytes, human_count, human_things};

/// From the folder that was asked for to that of the library.
type Folder<'a> = dyn Fn(Option<&PathBuf>) -> Result<PathBuf, Problem> + 'a;

/// What was written, for programs.
#[derive(Serialize)]
struct Written<'a> {
    files: &'a [WrittenFile],
    blocks: usize,
    /// Absent for a bill of materials, which has no code of any.
    #[serde(skip_serializing_if = "Option::is_none")]
    with_code: Option<usize>,
    /// By the reason for which code is not there; absent likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    code_left_out: Option<&'a BTreeMap<String, usize>>,
    /// Blocks that could not be read.
    unreadable: usize,
}

/// A block that cannot be read is told and left out; the export is then incomplete.
pub(super) fn export(command: &ExportCommand, folder: &Folder<'_>, console: &Console) -> Result<Ending, Problem> {
    let mut unreadable = 0;
    let mut damaged = |problem: Problem| {
        console.error(&problem);
        unreadable += 1;
    };
    let library = |input: &LibraryInput| folder(input.library.as_ref());
    let exported = match command {
        ExportCommand::Parquet(TableArguments { input, code, out }) => {
            export::parquet(&library(input)?, out, code.code, &mut damaged)?
        }
        ExportCommand::Dataset(DatasetArguments { input, code, out }) => {
            dataset::export(&library(input)?, out, code.code, &mut damaged)?
        }
        ExportCommand::Sbom(SbomArguments { input, out }) => {
            let bill = sbom::bill(&library(input)?, &mut damaged)?;
            match out {
                Some(out) => Exported { files: vec![output::write(out, &bill.text)?], tally: bill.tally },
                None => {
                    console.print(&bill.text)?;
                    return Ok(ending(unreadable));
                }
            }
        }
    };
    let is_code = !matches!(command, ExportCommand::Sbom(_));
    match console.format {
        Format::Json => console.print_json(&written(&exported, is_code, unreadable))?,
        Format::Human => console.print(&human(&exported, is_code))?,
    }
    Ok(ending(unreadable))
}

fn ending(unreadable: usize) -> Ending {
    if unreadable == 0 { Ending::Done } else { Ending::Incomplete }
}

fn written<'a>(Exported { files, tally }: &'a Exported, is_code: bool, unreadable: usize) -> Written<'a> {
    Written {
        files,
        blocks: tally.blocks,
        with_code: is_code.then_some(tally.with_code),
        code_left_out: is_code.then_some(&tally.left_out),
        unreadable,
    }
}

fn human(Exported { files, tally }: &Exported, is_code: bool) -> String {
    let mut text = format!("{} in {}", human_things(tally.blocks, "block"), human_things(files.len(), "file"));
    if is_code {
        text += &format!(", {} with code", human_count(tally.with_code));
    }
    text += "\n";
    for file in files {
        text += &format!("  {}  {}\n", file.path.display(), human_bytes(file.bytes));
    }
    for (reason, count) in tally.left_out.iter().filter(|_| is_code) {
        text += &format!("  code left out of {}: {reason}\n", human_things(*count, "block"));
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::{json, to_value};

    use super::*;
    use crate::export::tally::Tally;

    #[test]
    fn of_a_bill_nothing_is_said_about_code() {
        let exported = Exported { files: Vec::new(), tally: Tally { blocks: 2, ..Tally::default() } };
        let told = |is_code| to_value(written(&exported, is_code, 0)).unwrap();
        assert_eq!(told(false), json!({"files": [], "blocks": 2, "unreadable": 0}));
        let of_code = json!({"files": [], "blocks": 2, "with_code": 0, "code_left_out": {}, "unreadable": 0});
        assert_eq!(told(true), of_code);
    }
}
