//! How deduplication grows with the number of models.
//!
//! `cargo bench -p netquarry --bench growth -- [RECORDS...]` makes tables of so many distinct classes (1,000, 10,000 and
//! 100,000 where none are named; a million takes half an hour and 16 GB of disk), from those of three packages of PyPI with
//! layers, numbers and attributes changed at random. It deduplicates each with both presets and writes the outputs; then
//! the default once more with all it needs in the cache (`--incremental`).

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::error::Error;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Parser;
use netquarry_tests::packages::{python, unpacked};
use serde::Deserialize;

const PROGRAM: &str = env!("CARGO_BIN_EXE_netquarry");
const PACKAGES: [&str; 3] = ["timm==1.0.31", "torchvision==0.29.2", "transformers==5.23.0"];

/// Measures deduplication of tables of several sizes.
#[derive(Parser)]
struct Arguments {
    /// How many records the tables have
    #[arg(default_values_t = [1_000, 10_000, 100_000])]
    records: Vec<usize>,
    /// Cargo passes it.
    #[arg(long, hide = true)]
    bench: bool,
}

/// What `measured.py` says.
#[derive(Deserialize)]
struct Taken {
    status: i32,
    wall_seconds: f64,
    cpu_seconds: f64,
    peak_bytes: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let Arguments { mut records, bench: _ } = Arguments::parse();
    records.sort_unstable();
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let packages = unpacked(target, &PACKAGES);
    let scratch = tempfile::tempdir_in(target)?;
    println!(
        "{:<22}{:>10}{:>10}{:>10}{:>10}{:>12}{:>10}",
        "", "records", "kept", "wall, s", "CPU, s", "CPU/record", "peak, MB"
    );
    for count in records {
        let table = table(&packages, count, scratch.path())?;
        let cache = scratch.path().join(format!("cache-{count}"));
        for preset in ["default", "nn-dup"] {
            show(preset, count, &table, &cache, &["--preset", preset])?;
        }
        // The first one fills the cache. It also has the plugins compiled by now.
        for what in ["default, to the cache", "default, from it"] {
            show(what, count, &table, &cache, &["--incremental"])?;
        }
        fs::remove_file(&table)?;
    }
    Ok(())
}

fn table(packages: &Path, count: usize, folder: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let path = folder.join(format!("{count}.jsonl"));
    let status = Command::new(python())
        .arg(script("mutated_classes.py"))
        .args([packages.as_os_str(), OsStr::new(&count.to_string()), path.as_os_str()])
        .status()?;
    if status.success() { Ok(path) } else { Err(format!("mutated_classes.py ended with {status}").into()) }
}

/// Deduplicates a table and prints what that took.
fn show(what: &str, count: usize, table: &Path, cache: &Path, options: &[&str]) -> Result<(), Box<dyn Error>> {
    let out = cache.with_file_name("unique");
    let mut command = Command::new(python());
    command.arg(script("measured.py")).arg(PROGRAM).args(["dedup", "run"]).arg(table).args(options);
    let output = command.arg("--cache-dir").arg(cache).arg("--out").arg(&out).output()?;
    let taken: Taken = serde_json::from_slice(&output.stdout)?;
    if taken.status != 0 {
        return Err(format!("{what}: the program ended with {}", taken.status).into());
    }
    let kept = fs::read_to_string(out.join("decisions.jsonl"))?.matches(r#""decision":"kept""#).count();
    fs::remove_dir_all(&out)?;
    let per_record = 1e3 * taken.cpu_seconds / count as f64;
    println!(
        "{what:<22}{count:>10}{kept:>10}{:>10.1}{:>10.1}{per_record:>9.2} ms{:>10.0}",
        taken.wall_seconds,
        taken.cpu_seconds,
        taken.peak_bytes / 1e6
    );
    Ok(())
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/oracles").join(name)
}
