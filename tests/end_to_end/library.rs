//! What a run leaves.

use std::fs;
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;

use super::support::{Playground, Run, python, tree};

/// A library that is made once and only read.
pub(crate) fn made() -> &'static Playground {
    static MADE: OnceLock<Playground> = OnceLock::new();
    MADE.get_or_init(|| {
        let playground = Playground::new();
        playground.mine(&["run", "--format", "json"]).succeeded();
        playground
    })
}

#[test]
fn every_candidate_ends_as_a_bundle_or_as_a_failure_with_a_reason() {
    let manifest = made().manifest("out");
    let ends: Vec<String> = manifest
        .values()
        .map(|record| {
            let word = |value: &Value| value.as_str().unwrap_or("-").to_owned();
            let (bundle, failure) = (word(&record["bundle"]), word(&record["failure"]["class"]));
            let survivor = word(&record["dedup"]["survivor"]);
            format!(
                "{} level {} bundle {bundle} failure {failure} survivor {survivor}",
                word(&record["block"]),
                record["level"]
            )
        })
        .collect();
    insta::assert_snapshot!(ends.join("\n"));
}

#[test]
fn commands_go_on_with_the_corpus_of_the_library() {
    let playground = Playground::new();
    playground.mine(&["run", "--corpus", "corpus.json"]).succeeded();
    let netquarry = |arguments: &[&str]| Run::of(playground.command(arguments).env("NETQUARRY_PYTHON", python()));
    let extract = |arguments: &[&str]| netquarry(&[&["extract", "small.layers.Scale"], arguments].concat());
    let before = playground.read("out/required_repos.json");
    let run = extract(&[]).succeeded();
    assert_eq!(playground.read("out/required_repos.json"), before);
    assert!(run.stderr.contains("the corpus corpus.json of the library in `out`"), "{}", run.stderr);
    let run = extract(&["--corpus", "corpus.json"]).succeeded();
    assert!(!run.stderr.contains("of the library"), "{}", run.stderr);
    // Where there is no library, the default is what it was.
    let run = extract(&["--out", "empty", "--offline"]).ended(2);
    assert!(run.stderr.contains("`quickstart`") && !playground.path("empty").exists(), "{}", run.stderr);

    // A bundle is compared with what its own library was made of, wherever that lies.
    fs::rename(playground.path("out"), playground.path("elsewhere")).unwrap();
    let run =
        netquarry(&["validate", "elsewhere/blocks/Scale.py", "--level", "parity", "--format", "json"]).succeeded();
    assert_eq!(run.json()[0]["level"], 7, "{}", run.stdout);

    playground.write("elsewhere/run.json", "{\"program\": \"netquarry\"}");
    let run = extract(&["--out", "elsewhere"]).ended(2);
    assert!(run.stderr.contains("elsewhere/run.json") && run.stderr.contains("--corpus"), "{}", run.stderr);
    extract(&["--out", "elsewhere", "--corpus", "corpus.json"]).succeeded();
}

#[test]
fn a_record_has_the_fields_that_scripts_rely_on() {
    let manifest = made().manifest("out");
    let record = &manifest["small:small.layers.Block"];
    assert_eq!(record["source"]["path"], "small/layers.py");
    assert_eq!(record["source"]["lines"], serde_json::json!([18, 28]));
    assert_eq!(record["requirements"], serde_json::json!(["torch"]));
    assert_eq!(record["license"], "MIT");
    assert_eq!(record["levels"]["backward"], "unknown");
    assert_eq!(record["constructor"][0]["name"], "dim");
    assert_eq!(record["constructor"][0]["default"], "8");
    assert!(record["swhid"].as_str().unwrap().starts_with("swh:1:cnt:"));
    let definitions: Vec<&str> =
        record["closure"].as_array().unwrap().iter().map(|each| each["definition"].as_str().unwrap()).collect();
    for needed in ["Block", "Scale"] {
        assert!(definitions.contains(&format!("small:small.layers.{needed}").as_str()), "{definitions:?}");
    }
    assert!(definitions.contains(&"small:small.functional.scale"), "{definitions:?}");
    assert!(!definitions.iter().any(|definition| definition.ends_with("unused")), "{definitions:?}");
    for field in ["name", "category", "sha256", "lines", "unresolved", "replaced", "failure", "dedup"] {
        assert!(record.get(field).is_some(), "{field}");
    }
}

#[test]
fn a_bundle_is_upstream_text_under_a_header_with_provenance() {
    insta::assert_snapshot!(made().read("out/blocks/Scale.py"));
}

#[test]
fn a_block_works_in_a_script_without_its_source() {
    let script = "import sys; sys.path.insert(0, 'out/blocks'); import torch\n\
                  from Block__small_layers import Block\n\
                  print(tuple(Block()(torch.ones(1, 8, 4, 4)).shape), 'small' in sys.modules)\n";
    let mut command = Command::new(python());
    command.args(["-c", script]).current_dir(made().path(""));
    assert_eq!(Run::of(&mut command).succeeded().stdout, "(1, 8, 4, 4) False\n");
}

#[test]
fn what_blocks_rely_on_is_listed() {
    let text = made().read("out/required_repos.json");
    let required: Vec<Value> = serde_json::from_str(&text).unwrap();
    let names: Vec<(&str, &str)> =
        required.iter().map(|each| (each["role"].as_str().unwrap(), each["name"].as_str().unwrap())).collect();
    assert_eq!(names, [("source", "small"), ("requirement", "no_such_distribution"), ("requirement", "torch")]);
    let torch = required.last().unwrap();
    assert!(torch["version"].as_str().unwrap().starts_with('2'), "{torch}");
}

#[test]
fn an_emitter_has_a_folder_of_its_own() {
    let files: Vec<String> = tree(&made().path("out/specs")).into_iter().map(|(path, _)| path).collect();
    assert!(files.contains(&"emit-neutral-spec/index.json".to_owned()), "{files:?}");
    assert!(files.contains(&"emit-neutral-spec/blocks/Scale.json".to_owned()), "{files:?}");
}

#[test]
fn a_second_run_does_nothing_and_says_so() {
    let playground = made();
    let before = playground.read("out/run.json");
    let again = playground.mine(&["run"]).succeeded();
    assert!(again.stdout.contains("Up to date."), "{}", again.stdout);
    assert_eq!(playground.read("out/run.json"), before);
    let json = playground.mine(&["run", "--format", "json"]).succeeded().json();
    assert_eq!(json["up_to_date"], true);
    assert_eq!(json["findings"]["total"]["candidates"], 8);
}

#[test]
fn a_corpus_is_the_same_wherever_it_is_named_and_another_one_replaces_it_with_a_word() {
    let playground = Playground::new();
    let run = |further: &[&str]| {
        let mut command = playground.command(&[&["run", "--level", "compile"], further].concat());
        Run::of(command.env("NETQUARRY_PYTHON", python())).succeeded()
    };
    run(&["--corpus", "corpus.json"]);
    playground.write("netquarry.toml", "corpus = \"corpus.json\"\nout = \"out\"\ncache-dir = \"cache\"\n");
    fs::create_dir(playground.path("below")).unwrap();
    for folder in ["", "below"] {
        let mut command = playground.command(&["run", "--level", "compile"]);
        command.current_dir(playground.path(folder)).env_remove("NETQUARRY_CACHE");
        let again = Run::of(command.env("NETQUARRY_PYTHON", python())).succeeded();
        assert!(again.stdout.contains("Up to date."), "`{folder}`: {}", again.stdout);
    }
    let other = playground.read("corpus.json").replace("\"small\"", "\"other\"");
    playground.write("other.json", &other);
    let other = run(&["--corpus", "other.json"]);
    assert!(other.stderr.contains("holds a library of the corpus corpus.json"), "{}", other.stderr);
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let playground = Playground::new();
    playground.mine(&["run", "--threads", "1", "--out", "one", "--quiet"]).succeeded();
    playground.bring_plugins("other");
    playground
        .mine(&["run", "--threads", "3", "--jobs", "2", "--out", "three", "--quiet", "--cache-dir", "other"])
        .succeeded();
    let (one, three) = (tree(&playground.path("one")), tree(&playground.path("three")));
    assert!(one.len() > 10);
    for (left, right) in one.iter().zip(&three) {
        assert_eq!(left.0, right.0);
        assert!(left.1 == right.1, "{} differs", left.0);
    }
    assert_eq!(one.len(), three.len());
    let recorded = |folder: &str| -> serde_json::Value {
        serde_json::from_str(&playground.read(&format!("{folder}/run.json"))).expect("it is JSON")
    };
    // And the same once more from the caches, by two threads.
    playground.mine(&["run", "--threads", "2", "--out", "again", "--quiet"]).succeeded();
    for part in ["ingredients", "results"] {
        let [one, three, again] = ["one", "three", "again"].map(|folder| recorded(folder)[part].clone());
        assert!(one.is_object() && one == three && one == again, "{part}: {one} {three} {again}");
    }
    assert!(recorded("one")["results"]["specs"].is_string());
}

/// The digest of specs covers what an emitter wrote, and nothing of what no emitter did.
#[test]
fn other_specs_have_another_digest() {
    let playground = Playground::new();
    let results = |further: &[&str], out: &str| {
        playground.mine(&[&["run", "--quiet", "--out", out], further].concat()).succeeded();
        let record: Value = serde_json::from_str(&playground.read(&format!("{out}/run.json"))).expect("it is JSON");
        record["results"].clone()
    };
    let neutral = results(&[], "neutral");
    let both = results(&["--emit", "emit-neutral-spec,emit-nn-gpt"], "both");
    for part in ["closures", "bundles", "decisions"] {
        assert_eq!(neutral[part], both[part], "{part}");
    }
    for part in ["specs", "sha256"] {
        assert!(neutral[part].is_string() && neutral[part] != both[part], "{part}");
    }
}

#[test]
fn a_gate_that_was_asked_for_makes_blocks_below_it_findings() {
    let playground = made();
    let out = ["--out", "gated", "--quiet"];
    let json = playground.mine(&[&["run", "--gate", "forward", "--format", "json"], &out[..]].concat()).ended(1).json();
    assert_eq!(json["findings"]["gate"], "forward");
    assert!(playground.path("gated/failed").is_dir());
}

#[test]
fn a_published_package_is_mined_from_the_index() {
    let playground = Playground::new();
    playground.write(
        "timm.json",
        r#"{"name": "drop", "sources": [{"name": "timm", "location": {"pypi": {"project": "timm", "version": "1.0.31"}},
            "scope": {"include": ["timm/layers/drop", "timm/layers/mlp"]}}]}"#,
    );
    let run = playground.mine(&["run", "--corpus", "timm.json", "--format", "json", "--quiet"]).succeeded();
    assert_eq!(run.json()["findings"]["total"]["candidates"], run.json()["findings"]["total"]["promoted"]);
    let record = &playground.manifest("out")["timm:timm.layers.drop.DropPath"];
    assert_eq!(record["source"]["version"], "1.0.31");
    assert_eq!(record["license"], "Apache-2.0");
    assert_eq!(record["level"], 5);
    assert_eq!(record["unresolved"], serde_json::json!([]));
    let code = playground.read("out/blocks/DropPath.py");
    assert!(code.contains("\ndef drop_path("), "{code}");
    assert!(!code.contains("import timm") && !code.contains("from timm"), "{code}");

    // What is imported of a source is of its own distribution, and nothing about that is assumed.
    let kept = ["--keep-import", "timm", "--level", "parse", "--out", "kept", "--quiet"];
    playground.mine(&[&["run", "--corpus", "timm.json"], &kept[..]].concat()).succeeded();
    let code = playground.read("kept/blocks/Mlp.py");
    assert!(code.contains("\n# Requirements: timm, torch\n# Assembled by"), "{code}");
}
