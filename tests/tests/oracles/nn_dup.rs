//! Normalised tokens and structures, compared with NN-DUP's own.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::Command;

use netquarry_core::fingerprint::structure::structure;
use netquarry_core::fingerprint::tokens::normalised_tokens;
use netquarry_core::syntax::{self, PARSER_STACK_BYTES};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::{FOLDERS, python, standard_library};

/// What NN-DUP makes of one code; digests are hexadecimal.
#[derive(Deserialize)]
struct Response {
    code: String,
    from: String,
    tokens: String,
    structure: String,
}

/// A distribution, unpacked once for all test runs. Nothing of it is installed anywhere else.
fn distribution(requirement: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(requirement.replace("==", "-"));
    if !folder.exists() {
        let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a temporary folder can be made");
        let mut pip = Command::new(python());
        pip.env("PIP_ROOT_USER_ACTION", "ignore");
        pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:", "--target"]);
        let status = pip.arg(scratch.path()).arg(requirement).status().expect("there is a Python");
        assert!(status.success(), "pip cannot install {requirement}: {status}");
        // Another test may have been faster.
        if let Err(error) = fs::rename(scratch.path(), &folder) {
            assert!(folder.exists(), "{requirement} cannot be kept: {error}");
        }
    }
    folder
}

fn responses(folders: &[PathBuf]) -> Vec<Response> {
    let scratch = tempfile::tempdir().expect("a temporary folder can be made");
    let path = scratch.path().join("responses.jsonl");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("oracles/nn_dup_oracle.py");
    let mut oracle = Command::new(python());
    oracle.arg("-I").arg(script).arg(distribution("nn-dup==2.2.4")).arg(&path).args(folders);
    let status = oracle.status().expect("there is a Python");
    assert!(status.success(), "the oracle failed: {status}");
    let lines = BufReader::new(File::open(path).expect("the oracle has answered")).lines();
    lines.map(|line| serde_json::from_str(&line.expect("lines are UTF-8")).expect("lines are JSON")).collect()
}

fn hexadecimal(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// How NetQuarry differs, if it does.
fn disagreement(response: &Response) -> Option<String> {
    let tokens = normalised_tokens(&response.code);
    let joined = tokens.iter().collect::<Vec<_>>().join(" ");
    let structure = structure(&response.code);
    let agreement =
        (hexadecimal(&Sha256::digest(joined)) == response.tokens, hexadecimal(&structure.sha256) == response.structure);
    match agreement {
        (true, true) => None,
        _ if is_known_difference(&response.code) => None,
        (tokens, structure) => Some(format!("{}: tokens {tokens}, structure {structure}", response.from)),
    }
}

/// The parser rejects indentation of blanks and then tabs; CPython accepts it where it is consistent.
fn is_known_difference(code: &str) -> bool {
    syntax::outline(code).is_err_and(|diagnostic| diagnostic.message.starts_with("Tabs not allowed"))
}

fn check(folders: &[PathBuf], least: usize) {
    let responses = responses(folders);
    let compare = move || {
        assert!(responses.len() >= least, "only {} codes", responses.len());
        let disagreements: Vec<String> = responses.iter().filter_map(disagreement).collect();
        assert!(
            disagreements.is_empty(),
            "{} of {} codes differ:\n{}",
            disagreements.len(),
            responses.len(),
            disagreements.join("\n")
        );
    };
    let thread = std::thread::Builder::new().stack_size(PARSER_STACK_BYTES).spawn(compare);
    thread.expect("the system grants one more thread").join().expect("the codes agree");
}

#[test]
fn fingerprints_of_real_and_of_damaged_code() {
    let timm = distribution("timm==1.0.31").join("timm");
    let asynchronous = standard_library(&python()).join("asyncio");
    check(&[timm.join("layers"), timm.join("optim"), asynchronous], 800);
}

#[test]
fn fingerprints_of_the_folders_of_the_environment() {
    let Some(folders) = std::env::var_os(FOLDERS) else {
        return;
    };
    check(&std::env::split_paths(&folders).collect::<Vec<_>>(), 0);
}
