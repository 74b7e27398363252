//! What shims put in the place of upstream's definitions, held against upstream.

use std::path::Path;
use std::process::Command;

use crate::support::{Run, python};

/// The release from which transformers 5.23.0 takes `strict`.
const HUB: &str = "huggingface_hub==2.4.0";

#[test]
fn replacements_do_what_they_claim() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let install = ["-m", "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:", "--target"];
    Run::of(Command::new(python()).args(install).arg(folder.path()).arg(HUB)).succeeded();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let oracle = root.join("tests/oracles/replacements_oracle.py");
    let mut command = Command::new(python());
    command.arg("-I").arg(oracle).arg(root.join("plugins")).arg(folder.path());
    let checked = Run::of(&mut command).succeeded().stdout;
    assert!(checked.trim().parse::<usize>().expect("the number of checks") > 8, "{checked}");
}
