//! How often arguments are found, for three hundred blocks of timm and torchvision that were drawn once at random.
//!
//! `cargo bench -p netquarry --bench arguments -- LIBRARY` counts them in a library that was made with
//! `netquarry run --corpus quickstart --level parity`, and ends with 1 where they are fewer than they have to be.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use serde_json::Value;

/// The blocks, one a line.
const SAMPLE: &str = include_str!("../../../tests/end_to_end/cases/fixed_sample.txt");
/// Of the sample: how many are to be constructed and how many to run forward, with real tensors.
const CONSTRUCTED: usize = 279;
const RUN_FORWARD: usize = 264;

/// Says for how many blocks of a fixed sample arguments were found.
#[derive(Parser)]
struct Arguments {
    /// A library of the corpus `quickstart`; relative paths start at the root of the workspace
    library: PathBuf,
    /// Cargo passes it.
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let Arguments { library, bench: _ } = Arguments::parse();
    // Cargo starts benchmarks in the folder of their package.
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(library).join("manifest.jsonl");
    let mut records = BTreeMap::new();
    for line in std::fs::read_to_string(manifest)?.lines() {
        let record: Value = serde_json::from_str(line)?;
        records.insert(record["block"].as_str().ok_or("a record names no block")?.to_owned(), record);
    }
    let passed = |level: &str| {
        let has_passed = |block: &&str| records.get(*block).is_some_and(|record| record["levels"][level] == "passed");
        SAMPLE.lines().filter(has_passed).count()
    };
    let (constructed, run_forward, equal) = (passed("construct"), passed("forward"), passed("parity"));
    let all = SAMPLE.lines().count();
    println!("of {all}: {constructed} constructed, {run_forward} run forward, {equal} the same as upstream");
    let is_enough = constructed >= CONSTRUCTED && run_forward >= RUN_FORWARD;
    Ok(if is_enough { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
