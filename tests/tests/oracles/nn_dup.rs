//! Normalised tokens and structures, compared with NN-DUP's own.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::Command;

use netquarry_core::fingerprint::structure::structure;
use netquarry_core::fingerprint::tokens::normalised_tokens;
use netquarry_core::syntax::{PARSER_STACK_BYTES, outline};
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
    parses: bool,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Equal,
    /// One parser accepts a damaged code that the other rejects, which is for the parser's own oracle to judge.
    OnlyOneParses,
    Different,
}

fn compare(response: &Response) -> Comparison {
    let tokens = normalised_tokens(&response.code);
    let joined = tokens.iter().collect::<Vec<_>>().join(" ");
    let structure = structure(&response.code);
    if hexadecimal(&Sha256::digest(joined)) == response.tokens && hexadecimal(&structure.sha256) == response.structure {
        Comparison::Equal
    } else if outline(&response.code).is_ok() != response.parses {
        Comparison::OnlyOneParses
    } else {
        Comparison::Different
    }
}

fn check(folders: &[PathBuf], least: usize) {
    let responses = responses(folders);
    let compare_all = move || {
        assert!(responses.len() >= least, "only {} codes", responses.len());
        let comparisons: Vec<_> = responses.iter().map(|response| (compare(response), &response.from)).collect();
        let those = |wanted: Comparison| comparisons.iter().filter(move |(found, _)| *found == wanted);
        let different: Vec<_> = those(Comparison::Different).map(|(_, from)| from.as_str()).collect();
        assert!(different.is_empty(), "{} of {}:\n{}", different.len(), comparisons.len(), different.join("\n"));
        let rejected: Vec<_> = those(Comparison::OnlyOneParses).collect();
        assert!(1000 * rejected.len() <= comparisons.len(), "{rejected:?}");
    };
    let thread = std::thread::Builder::new().stack_size(PARSER_STACK_BYTES).spawn(compare_all);
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
