//! Bundles beside their upstream classes.

use super::support::{Playground, Run};

/// A library of the package of these tests, compared with the package itself.
fn compared() -> Playground {
    let playground = Playground::new();
    playground.mine(&["run", "--level", "parity", "--quiet"]).succeeded();
    playground
}

#[test]
fn what_is_made_of_a_package_behaves_as_the_package_does() {
    let playground = compared();
    let manifest = playground.manifest("out");
    let ends: Vec<String> = manifest
        .values()
        .map(|record| {
            let word = |field: &str| record["levels"][field].as_str().unwrap().to_owned();
            format!("{} backward {} parity {}", record["block"].as_str().unwrap(), word("backward"), word("parity"))
        })
        .collect();
    insta::assert_snapshot!(ends.join("\n"));
    let parity = &manifest["small:small.layers.Block"]["evidence"]["parity"];
    assert_eq!(
        *parity,
        serde_json::json!({"upstream": "snapshot", "state_entries": 8, "output_parts": 1, "training_parts": 1})
    );
    let run = playground.mine(&["run", "--level", "parity", "--format", "json"]).succeeded().json();
    assert_eq!(run["findings"]["parity"]["different"], 0);
}

#[test]
fn a_bundle_that_was_changed_by_hand_is_found_out() {
    let playground = compared();
    let file = "out/blocks/Scale.py";
    let validate = ["validate", file, "--level", "parity", "--format", "json", "--quiet"];
    let same = playground.mine(&validate).succeeded().json();
    assert_eq!(same[0]["level"], 7, "{same}");

    let code = playground.read(file);
    let changed = code.replace("(x * factor)", "(x + factor)");
    assert_ne!(code, changed);
    playground.write(file, &changed);
    let told = playground.mine(&["validate", file, "--level", "parse"]).succeeded().stderr;
    assert!(told.contains("was changed since"), "{told}");
    let different = playground.mine(&validate).ended(1).json();
    assert_eq!(different[0]["failure"]["class"], "parity_mismatch");
    let message = different[0]["failure"]["message"].as_str().unwrap();
    assert!(message.starts_with("output as a whole (float32 ") && message.contains("values differ"), "{message}");
}

#[test]
fn a_package_that_changed_since_is_compared_anew() {
    let playground = compared();
    let functional = playground.read("package/small/functional.py");
    playground.write("package/small/functional.py", &functional.replace("LIMIT = 6.0", "LIMIT = 0.5"));
    let file = "out/blocks/Scale.py";
    let rows = playground.mine(&["validate", file, "--level", "parity", "--format", "json", "--quiet"]).ended(1).json();
    assert_eq!(rows[0]["failure"]["class"], "parity_mismatch", "{rows}");
    // What is made of the package now is as the package is now.
    playground.mine(&["run", "--level", "parity", "--gate", "parity", "--quiet"]).ended(1);
    assert_eq!(playground.manifest("out")["small:small.layers.Scale"]["level"], 7);
}

#[test]
fn files_of_different_corpora_are_not_compared_at_once() {
    let playground = Playground::new();
    playground.write("other.json", &playground.read("corpus.json"));
    let run = ["run", "--level", "execute", "--quiet"];
    playground.mine(&run).succeeded();
    playground.mine(&[&run[..], &["--corpus", "other.json", "--out", "other"]].concat()).succeeded();
    // Neither of a variable nor of the command line: each library knows its own.
    let validate = |arguments: &[&str]| {
        let mut command = playground.mining(&[&["validate", "--level", "parity"], arguments].concat());
        Run::of(command.env_remove("NETQUARRY_CORPUS"))
    };
    let refused = validate(&["out/blocks/Scale.py", "other/blocks/Scale.py"]).ended(2);
    assert!(refused.stderr.contains("are libraries of different corpora"), "{}", refused.stderr);
    validate(&["out/blocks/Scale.py", "other/blocks/Scale.py", "--corpus", "corpus.json"]).succeeded();
}
