//! Normalised tokens and structures, compared with NN-DUP's own.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use netquarry_core::dedup::{BlockSet, BlockSummary, Code, HashFamily, Hashing, Normalisation, Shingling};
use netquarry_core::fingerprint::archive::Forgetful;
use netquarry_core::fingerprint::blocks::CodeBlocks;
use netquarry_core::fingerprint::minhash::signature;
use netquarry_core::fingerprint::shelf::InMemory;
use netquarry_core::fingerprint::shingles::Shingles;
use netquarry_core::fingerprint::structure::structure;
use netquarry_core::fingerprint::tokens::{class_tokens, code_tokens, normalised_tokens};
use netquarry_core::syntax::{OutlineKind, PARSER_STACK_BYTES, outline};
use netquarry_tests::packages::{python, unpacked};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::{FOLDERS, standard_library};

/// What NN-DUP makes of one code; digests are hexadecimal.
#[derive(Deserialize)]
struct Response {
    code: String,
    from: String,
    tokens: String,
    structure: String,
    parses: bool,
}

fn distribution(requirement: &str) -> PathBuf {
    unpacked(Path::new(env!("CARGO_TARGET_TMPDIR")), &[requirement])
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

/// The kernels over sets of blocks read statement by statement what those for one code read at once.
fn assert_kernels_agree(responses: &[Response]) {
    let name = |code: &str| {
        let definitions = outline(code).unwrap_or_default().definitions.into_iter();
        let mut classes = definitions.filter(|definition| matches!(definition.kind, OutlineKind::Class { .. }));
        classes.next().map(|class| class.name.into_string()).unwrap_or_default()
    };
    let names: Vec<String> = responses.iter().map(|response| name(&response.code)).collect();
    let summary = |name: &String| BlockSummary {
        id: String::new(),
        name: name.clone(),
        source: String::new(),
        priority: 0,
        level: 0,
        accuracy: None,
        characters: 0,
        sha256: [0; 32],
    };
    let codes = responses.iter().map(|response| Code::from(Arc::from(response.code.as_str())));
    let blocks =
        CodeBlocks::new(names.iter().map(summary).zip(codes), Arc::new(InMemory::default()), Arc::new(Forgetful));
    for (number, (Response { code, from, .. }, name)) in (0..).zip(responses.iter().zip(&names)) {
        let tokens = [normalised_tokens(code), code_tokens(code, name), class_tokens(code, name)];
        for (normalisation, tokens) in Normalisation::ALL.into_iter().zip(&tokens) {
            let hashing = Hashing { family: HashFamily::MinhashRs, permutations: 128 };
            let whole = signature(&Shingles::new(tokens, 10), hashing);
            let shingling = Shingling { normalisation, width: 10 };
            assert_eq!(blocks.signature(number, shingling, hashing), *whole, "{normalisation}, {from}:\n{code}");
        }
        assert_eq!(blocks.structure(number), structure(code), "{from}:\n{code}");
    }
}

fn check(folders: &[PathBuf], least: usize) {
    let responses = responses(folders);
    let compare_all = move || {
        assert!(responses.len() >= least, "only {} codes", responses.len());
        assert_kernels_agree(&responses);
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
