//! How many mistakes in bundles each level of validation lets pass.
//!
//! `cargo bench -p netquarry --bench mutation -- LIBRARY` makes mutants of bundles of a library that was made with
//! `netquarry run --level parity`, validates them, and prints for each kind of mistake how many were made, how many still
//! pass, and of those that pass parity how many never ran, changed nothing that can be seen, or are false passes. It ends
//! with 1 where there is one of these. The program is told what it needs beside by its own variables, `NETQUARRY_PYTHON`
//! and `NETQUARRY_CACHE`. The bundles that are drawn also run outside of the sandbox: give it a library that you trust.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use clap::Parser;
use netquarry_tests::mutation::{Choice, Mutant, Tools, study, table};

const PROGRAM: &str = env!("CARGO_BIN_EXE_netquarry");

/// Makes mutants of the bundles of a library and says how far they get.
#[derive(Parser)]
struct Arguments {
    /// A library that was made with `--level parity`; relative paths start at the root of the workspace
    library: PathBuf,
    /// How many bundles are drawn
    #[arg(long, default_value_t = 40)]
    bundles: usize,
    /// How many mutants are made of each
    #[arg(long, default_value_t = 10)]
    mutants: usize,
    /// The same seed draws the same mutants
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// A folder for the mutants and for what came of each; without one nothing is kept
    #[arg(long)]
    out: Option<PathBuf>,
    /// An interpreter with torch; without one, that which the program prepares
    #[arg(long, env = "NETQUARRY_PYTHON")]
    python: Option<PathBuf>,
    /// Cargo passes it.
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let Arguments { library, bundles, mutants, seed, out, python, bench: _ } = Arguments::parse();
    // Cargo starts benchmarks in the folder of their package.
    std::env::set_current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))?;
    let python = python.map_or_else(prepared, Ok)?;
    let scratch = tempfile::tempdir()?;
    let folder = out.map_or_else(|| Ok(scratch.path().to_owned()), std::path::absolute)?;
    let netquarry = || {
        let mut command = Command::new(PROGRAM);
        command.env("NETQUARRY_PYTHON", &python);
        command
    };
    let start = Instant::now();
    let tools = Tools { netquarry: &netquarry, python: &python, folder: &folder };
    let mutants = study(&library, Choice { bundles, mutants, seed }, &tools)?;
    println!("{}", table(&mutants));
    println!("{} mutants in {:.0} s", mutants.len(), start.elapsed().as_secs_f64());
    let beyond = mutants.iter().filter(|it| it.passes("parity") && !it.is_false_pass());
    tell("pass parity and differ in what it does not look at", beyond.filter(|it| differs(it)));
    tell("fail at parity although plain Python sees no difference", mutants.iter().filter(|it| it.is_false_alarm()));
    let false_passes = tell("false passes", mutants.iter().filter(|it| it.is_false_pass()));
    Ok(if false_passes == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn differs(mutant: &Mutant) -> bool {
    mutant.behaviour.as_ref().is_some_and(|behaviour| !behaviour.differences.is_empty())
}

/// Prints mutants under a heading; how many they are.
fn tell<'m>(heading: &str, mutants: impl Iterator<Item = &'m Mutant>) -> usize {
    let lines: Vec<String> = mutants.map(|mutant| format!("  {mutant}")).collect();
    println!("\n{heading}: {}", lines.len());
    lines.iter().for_each(|line| println!("{line}"));
    lines.len()
}

/// The interpreter of the environment that the program makes for itself.
fn prepared() -> Result<PathBuf, Box<dyn Error>> {
    let output = Command::new(PROGRAM).args(["env", "prepare", "--format", "json"]).output()?;
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let python = answer["environment"]["python"].as_str().ok_or("`netquarry env prepare` names no interpreter")?;
    Ok(python.into())
}
