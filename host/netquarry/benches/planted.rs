//! How many planted copies each preset of deduplication finds, and how many classes it takes for copies that are none.
//!
//! `cargo bench -p netquarry --bench planted` takes classes of timm and torchvision from PyPI and an edited copy of each
//! (`tests/oracles/planted_copies.py` says which edits there are), deduplicates them with both presets, and prints for each
//! kind of edit how many copies there are and how many of them have the survivor of their original.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::Command;

use netquarry_tests::packages::{python, unpacked};
use serde::Deserialize;

const PROGRAM: &str = env!("CARGO_BIN_EXE_netquarry");
const PACKAGES: [&str; 2] = ["timm==1.0.31", "torchvision==0.29.2"];
const PRESETS: [&str; 2] = ["default", "nn-dup"];

/// A copy stands behind its original.
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

/// How many there are of a kind, and for how many of them each preset keeps one of the two.
#[derive(Default)]
struct Count {
    planted: usize,
    merged: [usize; PRESETS.len()],
}

fn main() -> Result<(), Box<dyn Error>> {
    let scratch = tempfile::tempdir()?;
    let table = scratch.path().join("rows.jsonl");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/oracles/planted_copies.py");
    let packages = unpacked(Path::new(env!("CARGO_TARGET_TMPDIR")), &PACKAGES);
    run(Command::new(python()).arg(script).arg(packages).arg(&table))?;
    let rows: Vec<Row> = lines(&table)?;
    let survivors = PRESETS.iter().map(|preset| survivors(&table, preset, scratch.path()));
    let survivors = survivors.collect::<Result<Vec<_>, _>>()?;

    let block = |number: usize| format!("{}#{number}", rows[number].nn);
    let mut counts: BTreeMap<&str, Count> = BTreeMap::new();
    for (number, row) in rows.iter().enumerate() {
        let Some(kind) = &row.kind else { continue };
        let count = counts.entry(kind).or_default();
        count.planted += 1;
        for (merged, survivors) in count.merged.iter_mut().zip(&survivors) {
            *merged += usize::from(survivors[&block(number)] == survivors[&block(number - 1)]);
        }
    }
    let originals = rows.iter().filter(|row| row.kind.is_none()).count();
    println!("{originals} classes, {} copies, and of how many one stays for both\n", rows.len() - originals);
    println!("{:<28}{:>8}{:>10}{:>10}", "", "planted", PRESETS[0], PRESETS[1]);
    for (kind, Count { planted, merged: [default, nn_dup] }) in &counts {
        println!("{kind:<28}{planted:>8}{default:>10}{nn_dup:>10}");
    }
    Ok(())
}

/// For each model the one that stands for it.
fn survivors(table: &Path, preset: &str, folder: &Path) -> Result<HashMap<String, String>, Box<dyn Error>> {
    let out = folder.join(preset);
    run(Command::new(PROGRAM).args(["dedup", "run", "--preset", preset]).arg(table).arg("--out").arg(&out))?;
    let decisions: Vec<Decision> = lines(&out.join("decisions.jsonl"))?;
    let survivor = |Decision { block, decision, survivor }: Decision| {
        let survivor = survivor.filter(|_| decision == "removed").unwrap_or_else(|| block.clone());
        (block, survivor)
    };
    Ok(decisions.into_iter().map(survivor).collect())
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
