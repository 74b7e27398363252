//! The preset `nn-dup` against NN-DUP itself, record by record.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use netquarry_tests::packages::{python, unpacked};
use serde_json::Value;

use crate::support::{Playground, Run};

/// Of what NN-DUP and datasketch import, everything. NN-DUP's own requirements ask for more than that.
const PACKAGES: [&str; 9] = [
    "nn-dup==2.2.4",
    "datasketch==1.6.5",
    "numpy==2.4.6",
    "pandas==2.3.3",
    "python-dateutil==4.0.0",
    "pytz==2026.6",
    "scipy==1.17.1",
    "tqdm==4.70.1",
    "tzdata==2026.6",
];

/// NN-DUP's words for the reasons that NetQuarry has.
const REASONS: [(&str, &str); 4] = [
    ("exact", "exact_duplicate"),
    ("lexical", "lexical_near_duplicate"),
    ("structural_equal", "structural_duplicate_exact"),
    ("structural_near", "structural_duplicate_near"),
];

fn oracle(arguments: &[&str], playground: &Playground) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/oracles/nn_dup_decisions.py");
    let mut command = Command::new(python());
    command.arg(script).arg(unpacked(target(), &PACKAGES)).args(arguments).current_dir(playground.path(""));
    Run::of(&mut command).succeeded();
}

fn target() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}

fn timm() -> PathBuf {
    unpacked(target(), &["timm==1.0.31"]).join("timm")
}

/// The rows of a table, by their numbers, with whether they are kept and with why not.
type Decisions = BTreeMap<String, (bool, Option<String>)>;

fn of_netquarry(playground: &Playground, folder: &str) -> Decisions {
    let lines = playground.read(&format!("{folder}/decisions.jsonl"));
    let decisions = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    decisions
        .map(|decision| {
            let (_, number) = decision["block"].as_str().unwrap().rsplit_once('#').unwrap();
            let is_kept = decision["decision"] == "kept";
            let reason = decision["reason"].as_str().filter(|_| !is_kept).map(str::to_owned);
            (number.to_owned(), (is_kept, reason))
        })
        .collect()
}

/// What it rescues and tops up stays among its tombstones too.
fn of_reference(playground: &Playground, folder: &str) -> Decisions {
    let read = |file: &str| serde_json::from_str::<Value>(&playground.read(&format!("{folder}/{file}"))).unwrap();
    let number = |id: &str| id.rsplit_once('_').unwrap().1.to_owned();
    let tombstones = read("tombstones.json");
    let word = |theirs: &str| REASONS.iter().find(|(_, reason)| *reason == theirs).unwrap().0.to_owned();
    let removed = tombstones.as_object().unwrap().iter();
    let removed = removed.map(|(id, why)| (number(id), (false, Some(word(why["reason"].as_str().unwrap())))));
    let mut decisions: Decisions = removed.collect();
    for record in read("kept_records.json").as_array().unwrap() {
        decisions.insert(number(record["id"].as_str().unwrap()), (true, None));
    }
    decisions
}

#[track_caller]
fn check(playground: &Playground, options: &[&str], reference_options: &[&str], reasons: &[&str]) {
    let arguments = ["dedup", "run", "rows.jsonl", "--preset", "nn-dup", "--out", "ours"];
    playground.netquarry(&[&arguments, options].concat()).succeeded();
    oracle(&[&["decide", "rows.jsonl", "theirs"], reference_options].concat(), playground);
    let (ours, theirs) = (of_netquarry(playground, "ours"), of_reference(playground, "theirs"));
    let other: Vec<_> = ours.iter().filter(|(number, decision)| theirs.get(*number) != Some(decision)).collect();
    assert!(other.is_empty(), "{} of {}: {other:#?}", other.len(), theirs.len());
    assert_eq!(ours.len(), theirs.len());
    for reason in reasons {
        assert!(ours.values().any(|(_, found)| found.as_deref() == Some(reason)), "nothing is removed as {reason}");
    }
    check_files(playground);
}

/// What NN-DUP writes beside its report is the same to the byte, but for the tombstones: these have another order, NN-DUP
/// leaves it to the order of a set whom a lexical duplicate names, and a structural one may name a model that goes later.
#[track_caller]
fn check_files(playground: &Playground) {
    for file in ["kept_records.json", "splits.json"] {
        let [ours, theirs] = ["ours", "theirs"].map(|folder| playground.read(&format!("{folder}/{file}")));
        let line = ours.lines().zip(theirs.lines()).find(|(ours, theirs)| ours != theirs);
        assert!(ours == theirs, "{file} differs: {line:#?}");
    }
    let [ours, theirs] =
        ["ours", "theirs"].map(|folder| accepted(&playground.path(&format!("{folder}/accepted_code"))));
    assert!(ours == theirs, "{:#?} and {:#?}", ours.keys(), theirs.keys());
    let [ours, theirs] = ["ours", "theirs"].map(|folder| tombstones(playground, folder));
    for (id, tombstone) in &theirs {
        assert_eq!(ours.get(id), Some(tombstone), "{id}");
    }
    assert_eq!(ours.len(), theirs.len());
}

fn accepted(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries.map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap())).collect()
}

fn tombstones(playground: &Playground, folder: &str) -> BTreeMap<String, Value> {
    let text = playground.read(&format!("{folder}/tombstones.json"));
    let mut tombstones: BTreeMap<String, Value> = serde_json::from_str(&text).unwrap();
    for tombstone in tombstones.values_mut().filter(|tombstone| tombstone["reason"] == "lexical_near_duplicate") {
        let tombstone = tombstone.as_object_mut().unwrap();
        assert!(["canonical", "canonical_name", "jaccard"].iter().all(|key| tombstone.remove(*key).is_some()));
    }
    let all = tombstones.clone();
    let is_structural = |tombstone: &&Value| tombstone["reason"].as_str().unwrap().starts_with("structural");
    for tombstone in tombstones.values_mut() {
        if !is_structural(&&*tombstone) {
            continue;
        }
        // To the one that stayed.
        while let Some(next) = all.get(tombstone["canonical"].as_str().unwrap()).filter(is_structural) {
            for key in ["canonical", "canonical_name"] {
                tombstone[key] = next[key].clone();
            }
        }
    }
    tombstones
}

#[test]
fn decisions_and_files_are_those_of_nn_dup() {
    let playground = Playground::new();
    oracle(&["rows", timm().join("models").to_str().unwrap(), "rows.jsonl"], &playground);
    let reasons: Vec<&str> = REASONS.iter().map(|(ours, _)| *ours).collect();
    check(&playground, &[], &[], &reasons);
    assert!(!playground.path("ours/sampling_weights.csv").exists());
}

#[test]
fn prefixes_filter_prefer_rescue_and_top_up_as_in_nn_dup() {
    let playground = Playground::new();
    oracle(&["rows", timm().join("layers").to_str().unwrap(), "rows.jsonl"], &playground);
    let includes = ["--include", "rag", "--include", "FractalNet", "--include", "alt"];
    let weights = ["--upweight", "rag-:3", "--upweight", "Fractal:0.5"];
    let preferred = ["--prefer-prefix", "alt", "--prefer-prefix", "rag", "--top-up", "FractalNet", "--top-up", "alt"];
    let theirs = ["--prefer-prefix-order", "alt", "--prefer-prefix-order", "rag"];
    let topped = ["--topup-prefix", "FractalNet", "--topup-prefix", "alt"];
    check(
        &playground,
        &[&includes[..], &weights, &preferred].concat(),
        &[&includes[..], &weights, &theirs, &topped].concat(),
        &["exact"],
    );
    let decisions = playground.read("ours/decisions.jsonl");
    assert!(decisions.contains("\"top_up\""), "{decisions}");
    assert_eq!(playground.read("ours/sampling_weights.csv"), playground.read("theirs/sampling_weights.csv"));
}
