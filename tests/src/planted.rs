//! Classes of packages with edited copies of each, to see which copies deduplication finds
//! (`tests/oracles/planted_copies.py` says which edits there are).

use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use crate::packages::python;

/// How kinds are called that leave the network as it is.
pub const SAME: &str = "same: ";

/// Copies stand behind their original.
#[derive(Deserialize)]
struct Row {
    nn: String,
    kind: Option<String>,
}

#[derive(Deserialize)]
struct Decision {
    block: String,
    decision: String,
    survivor: Option<String>,
}

/// The copies of a kind.
#[derive(Clone, Debug, Default)]
pub struct Kind {
    pub planted: usize,
    /// Those that do not stay beside their original.
    pub merged: Vec<String>,
}

/// Classes with their copies, as a table.
pub struct Planted {
    table: PathBuf,
    rows: Vec<Row>,
}

impl Planted {
    /// Writes the table of the classes below `package` into `folder`.
    ///
    /// # Errors
    /// Python cannot be run, or something cannot be read or written.
    pub fn new(package: &Path, folder: &Path) -> Result<Self, Box<dyn Error>> {
        let table = folder.join("planted.jsonl");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("oracles/planted_copies.py");
        run(Command::new(python()).arg(script).arg(package).arg(&table))?;
        let rows = lines(&table)?;
        Ok(Self { table, rows })
    }

    pub fn originals(&self) -> usize {
        self.rows.iter().filter(|row| row.kind.is_none()).count()
    }

    pub fn copies(&self) -> usize {
        self.rows.len() - self.originals()
    }

    /// What the program makes of them with a preset. Its outputs go to `folder`.
    ///
    /// # Errors
    /// The program fails.
    pub fn deduplicated(
        &self,
        program: &Path,
        preset: &str,
        folder: &Path,
    ) -> Result<BTreeMap<String, Kind>, Box<dyn Error>> {
        let out = folder.join(preset);
        run(Command::new(program).args(["dedup", "run", "--preset", preset]).arg(&self.table).arg("--out").arg(&out))?;
        let survivor = |Decision { block, decision, survivor }: Decision| {
            let survivor = survivor.filter(|_| decision == "removed").unwrap_or_else(|| block.clone());
            (block, survivor)
        };
        let survivors: HashMap<String, String> =
            lines(&out.join("decisions.jsonl"))?.into_iter().map(survivor).collect();
        let survivor = |number: usize| &survivors[&format!("{}#{number}", self.rows[number].nn)];
        let mut kinds: BTreeMap<String, Kind> = BTreeMap::new();
        let mut original = 0;
        for (number, row) in self.rows.iter().enumerate() {
            let Some(kind) = &row.kind else {
                original = number;
                continue;
            };
            let kind = kinds.entry(kind.clone()).or_default();
            kind.planted += 1;
            if survivor(number) == survivor(original) {
                kind.merged.push(row.nn.clone());
            }
        }
        Ok(kinds)
    }
}

fn lines<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<Vec<T>, Box<dyn Error>> {
    Ok(fs::read_to_string(path)?.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
}

fn run(command: &mut Command) -> Result<(), Box<dyn Error>> {
    let output = command.output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{command:?} ended with {}:\n{}", output.status, String::from_utf8_lossy(&output.stderr)).into())
}
