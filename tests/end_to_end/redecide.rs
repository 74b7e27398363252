//! Other decisions about the duplicates of a library: shown, then made, as a run would make them.

use std::fs;

use serde_json::Value;

use super::support::{Playground, Run, tree};

const THRESHOLD: &str = "dedup-lexical.threshold=1";
const WIDE: &str = "small:small.near.Wide";
const TALL: &str = "small:small.near.Tall";

/// A library with an exact copy, a renamed one, and a pair that differs in an intermediate result.
fn library() -> Playground {
    let playground = Playground::new();
    let layers: String =
        (0..12).map(|number| format!("        self.layer_{number} = nn.Linear(width, width)\n")).collect();
    let calls: String = (0..12).map(|number| format!("        x = self.layer_{number}(x)\n")).collect();
    let class = |name: &str, calls: &str| {
        format!(
            "class {name}(nn.Module):\n    def __init__(self, width=16):\n        super().__init__()\n\
             {layers}\n    def forward(self, x):\n{calls}        return x\n"
        )
    };
    let longer = calls.replace("x = self.layer_7(x)", "between = self.layer_7(x)\n        x = between");
    let text = format!("from torch import nn\n\n\n{}\n\n{}", class("Wide", &calls), class("Tall", &longer));
    playground.write("package/small/near.py", &text);
    let text = playground.read("package/small/layers.py").replace("x + self.scale", "y + self.scale");
    let text = text.replace("def forward(self, x):\n        return y", "def forward(self, y):\n        return y");
    playground
        .write("package/small/renamed.py", &text.replace("self.conv(x)", "self.conv(y)").replace("Block", "Same"));
    playground.mine(&["run"]).succeeded();
    playground
}

fn blocks(changes: &Value) -> Vec<&str> {
    changes.as_array().unwrap().iter().map(|change| change["block"].as_str().unwrap()).collect()
}

fn removed(playground: &Playground, folder: &str) -> Vec<String> {
    let manifest = playground.manifest(folder);
    let removed = manifest.into_iter().filter(|(_, record)| record["dedup"]["decision"] == "removed");
    removed.map(|(block, _)| block).collect()
}

fn recorded(playground: &Playground, folder: &str) -> Value {
    serde_json::from_str(&playground.read(&format!("{folder}/run.json"))).expect("a record is JSON")
}

fn dedup(playground: &Playground, options: &[&str]) -> Run {
    playground.mine(&[&["dedup", "run"], options].concat())
}

#[test]
fn a_library_decided_about_anew_is_the_one_that_a_run_makes() {
    let playground = library();
    let at_first = tree(&playground.path("out"));
    let duplicates = removed(&playground, "out");
    assert!(duplicates.contains(&TALL.to_owned()) && !duplicates.contains(&WIDE.to_owned()), "{duplicates:?}");
    // Only what is kept is described.
    assert!(playground.path("out/duplicates/Tall.py").is_file() && !playground.path("out/blocks/Tall.py").exists());
    assert!(!playground.path("out/specs/emit-neutral-spec/blocks/Tall.json").exists());

    // With the settings of the run nothing changes, and nothing is written.
    let same = dedup(&playground, &["--format", "json"]).succeeded().json();
    assert_eq!(same["kept"]["before"], same["kept"]["after"]);
    assert!(["goes", "returns", "differs"].iter().all(|list| blocks(&same[list]).is_empty()), "{same}");
    assert!(dedup(&playground, &[]).succeeded().stdout.starts_with("Nothing would change: "));

    let shown = dedup(&playground, &["--set", THRESHOLD, "--format", "json"]).succeeded();
    assert!(shown.stderr.contains("--apply"), "{}", shown.stderr);
    let changes = shown.json();
    assert_eq!((changes["applied"].as_bool(), blocks(&changes["returns"])), (Some(false), vec![TALL]));
    assert_eq!(changes["returns"][0]["before"]["survivor"], WIDE);
    assert_eq!(changes["kept"]["after"].as_u64().unwrap(), changes["kept"]["before"].as_u64().unwrap() + 1);
    let lexical = changes["removed"].as_array().unwrap().iter().find(|it| it["strategy"] == "dedup-lexical").unwrap();
    assert_eq!((&lexical["before"], &lexical["after"]), (&Value::from(1), &Value::from(0)));
    assert!(dedup(&playground, &["--set", THRESHOLD]).succeeded().stdout.contains("Would come back: 1 block\n"));
    assert!(tree(&playground.path("out")) == at_first, "what was shown was written");

    let applied = dedup(&playground, &["--set", THRESHOLD, "--apply"]).succeeded();
    assert!(applied.stderr.contains("[plugin.dedup-lexical]\nthreshold = 1"), "{}", applied.stderr);
    playground.mine(&["run", "--set", THRESHOLD, "--out", "whole"]).succeeded();
    assert!(tree(&playground.path("out")) == tree(&playground.path("whole")), "a run makes another library");
    assert!(playground.path("out/blocks/Tall.py").is_file() && !playground.path("out/duplicates/Tall.py").exists());
    // And for the same reasons, as its record has them.
    for part in ["ingredients", "results"] {
        let [applied, whole] = ["out", "whole"].map(|folder| recorded(&playground, folder)[part].clone());
        assert!(applied.is_object() && applied == whole, "{part}: {applied} {whole}");
    }
    playground.mine(&["verify"]).succeeded();
    let again = playground.mine(&["run", "--set", THRESHOLD, "--format", "json"]).succeeded().json();
    assert_eq!((&again["changes"]["written"], &again["changes"]["removed"]), (&Value::from(0), &Value::from(0)));

    // And back again, for which netquarry.toml needs no line.
    let back = dedup(&playground, &["--apply"]).succeeded();
    assert!(!back.stderr.contains("netquarry.toml"), "{}", back.stderr);
    assert!(tree(&playground.path("out")) == at_first, "what came back does not go again");
}

#[test]
fn strategies_and_presets_are_exchanged_likewise() {
    let playground = library();
    dedup(&playground, &["--dedup", "dedup-exact", "--apply"]).succeeded();
    let by_command_line = tree(&playground.path("out"));
    assert!(!removed(&playground, "out").contains(&TALL.to_owned()));
    playground.write("netquarry.toml", "[plugins]\ndedup = [\"dedup-exact\"]\n");
    playground.mine(&["run", "--out", "whole"]).succeeded();
    assert!(tree(&playground.path("whole")) == by_command_line, "a run with this strategy makes another library");

    // `...` are those that are asked anyhow.
    let same = dedup(&playground, &["--dedup", "...", "--format", "json"]).succeeded().json();
    assert!(["goes", "returns", "differs"].iter().all(|list| blocks(&same[list]).is_empty()), "{same}");
    assert_eq!(same["configuration"], Value::Null);

    // The lines that are printed are those that a run needs, in the place of what the file has.
    playground.write("netquarry.toml", "[plugin.dedup-exact]\nprefixes = [\"near\"]\n");
    let applied = dedup(&playground, &["--preset", "nn-dup", "--apply", "--format", "json"]).succeeded();
    let lines = applied.json()["configuration"].as_str().expect("there are lines to put there").to_owned();
    assert!(lines.contains("[plugin.dedup-exact]") && applied.stderr.contains(lines.trim_end()), "{}", applied.stderr);
    playground.write("netquarry.toml", &lines);
    playground.mine(&["run", "--out", "preset"]).succeeded();
    assert!(tree(&playground.path("preset")) == tree(&playground.path("out")), "{lines}");
}

/// Every file is put in its place before any goes, and the manifest may be the old one or the new one already.
#[test]
fn what_was_interrupted_goes_on() {
    let playground = library();
    playground.mine(&["run", "--set", THRESHOLD, "--out", "whole"]).succeeded();
    let (before, after) = (recorded(&playground, "out"), recorded(&playground, "whole"));
    let mut interrupted = before.clone();
    interrupted["state"] = "redeciding".into();
    let files = interrupted["files"].as_object_mut().expect("files have digests");
    files.extend(after["files"].as_object().expect("files have digests").clone());
    let bundle = playground.read("whole/blocks/Tall.py");
    for manifest in [playground.read("out/manifest.jsonl"), playground.read("whole/manifest.jsonl")] {
        playground.write("out/blocks/Tall.py", &bundle);
        playground.write("out/manifest.jsonl", &manifest);
        playground.write("out/run.json", &interrupted.to_string());
        let found = playground.mine(&["verify"]).ended(1);
        assert!(found.stdout.contains("`dedup run --apply` did not end"), "{}", found.stdout);
        dedup(&playground, &["--set", THRESHOLD, "--apply"]).succeeded();
        assert!(tree(&playground.path("out")) == tree(&playground.path("whole")), "something is left of before");
        assert_eq!(recorded(&playground, "out")["state"], "finished");
        playground.mine(&["verify"]).succeeded();
        dedup(&playground, &["--apply"]).succeeded();
    }
}

#[test]
fn what_extract_has_added_is_decided_about_with_the_others() {
    let playground = library();
    playground.mine(&["extract", "small.near.Tall"]).succeeded();
    assert_eq!(recorded(&playground, "out")["state"], "extended");
    dedup(&playground, &["--set", THRESHOLD, "--apply"]).succeeded();
    assert_eq!(recorded(&playground, "out")["state"], "extended");
    assert!(playground.path("out/blocks/Tall.py").is_file());
    playground.mine(&["verify"]).succeeded();
    // Its blocks are not of what the package is now.
    let near = playground.read("package/small/near.py");
    playground.write("package/small/near.py", &format!("{near}# edited\n"));
    let refused = dedup(&playground, &["--apply"]).ended(2);
    assert!(refused.stderr.contains("is not in the corpus as it was"), "{}", refused.stderr);
}

#[test]
fn a_library_that_is_not_what_it_was_is_left_alone() {
    let playground = library();
    let refused = |options: &[&str], why: &str| {
        let before = tree(&playground.path("out"));
        let run = dedup(&playground, &[&["--set", THRESHOLD, "--apply"], options].concat()).ended(2);
        assert!(run.stderr.contains(why), "{}", run.stderr);
        assert!(tree(&playground.path("out")) == before, "{why}");
    };
    refused(&["package"], "`package` is no library");
    let tall = playground.read("out/duplicates/Tall.py");
    playground.write("out/duplicates/Tall.py", &format!("{tall}# edited\n"));
    refused(&[], "is not the file of its record");
    fs::remove_file(playground.path("out/duplicates/Tall.py")).unwrap();
    refused(&[], "`out` was left as it is");
    playground.write("out/duplicates/Tall.py", &tall);
    playground.write("package/small/later.py", "x = 1\n");
    refused(&[], "its sources are others now");
    fs::remove_file(playground.path("package/small/later.py")).unwrap();
    let record = playground.read("out/run.json");
    playground.write("out/run.json", &record.replacen("\"state\": \"finished\"", "\"state\": \"unfinished\"", 1));
    refused(&[], "did not end");
}
