//! How many planted copies each preset of deduplication finds, and how many classes it takes for copies that are none.
//!
//! `cargo bench -p netquarry --bench planted` takes classes of timm and torchvision from PyPI and an edited copy of each
//! ([`netquarry_tests::planted`]), deduplicates them with both presets, and prints for each kind of edit how many copies
//! there are and how many of them have the survivor of their original.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::error::Error;
use std::path::Path;

use netquarry_tests::packages::unpacked;
use netquarry_tests::planted::Planted;

const PROGRAM: &str = env!("CARGO_BIN_EXE_netquarry");
const PACKAGES: [&str; 2] = ["timm==1.0.31", "torchvision==0.29.2"];
const PRESETS: [&str; 2] = ["default", "nn-dup"];

fn main() -> Result<(), Box<dyn Error>> {
    let scratch = tempfile::tempdir()?;
    let packages = unpacked(Path::new(env!("CARGO_TARGET_TMPDIR")), &PACKAGES);
    let planted = Planted::new(&packages, scratch.path())?;
    let [default, nn_dup] = PRESETS.map(|preset| planted.deduplicated(Path::new(PROGRAM), preset, scratch.path()));
    let (default, nn_dup) = (default?, nn_dup?);
    println!("{} classes, {} copies, and of how many one stays for both\n", planted.originals(), planted.copies());
    println!("{:<28}{:>8}{:>10}{:>10}", "", "planted", PRESETS[0], PRESETS[1]);
    for (name, kind) in &default {
        println!("{name:<28}{:>8}{:>10}{:>10}", kind.planted, kind.merged.len(), nn_dup[name].merged.len());
    }
    Ok(())
}
