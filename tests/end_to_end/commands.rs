//! The other commands, and what all of them have in common.

use std::io::Read;
use std::process::Stdio;

use super::library::made;
use super::support::{Run, Workplace, tree};

#[test]
fn every_stage_lists_what_came_out_of_it() {
    let workplace = made();
    for (stage, count) in
        [("fetch", 1), ("discover", 8), ("resolve", 8), ("assemble", 8), ("validate", 8), ("curate", 1)]
    {
        let json = workplace.mine(&[stage, "--format", "json"]).succeeded().json();
        assert_eq!(json.as_array().unwrap().len(), count, "{stage}");
        let human = workplace.mine(&[stage]).succeeded();
        assert!(human.stdout.lines().count() > count, "{stage}:\n{}", human.stdout);
    }
    let index = workplace.mine(&["index", "--format", "json"]).succeeded().json();
    assert_eq!(index["unreadable"][0]["path"], "small/python_two.py");
    let emitted = workplace.mine(&["emit"]).succeeded();
    assert!(emitted.stdout.contains("out/manifest.jsonl\n"), "{}", emitted.stdout);
}

#[test]
fn index_policies_decide_what_is_parsed() {
    let workplace = Workplace::new();
    let parsed = |policy: &str| {
        let json = workplace.mine(&["index", "--index", policy, "--format", "json"]).succeeded().json();
        (json["files"].as_u64().unwrap(), json["parsed"].as_u64().unwrap())
    };
    assert_eq!(parsed("skip"), (0, 0));
    assert_eq!(parsed("missing"), (7, 7));
    assert_eq!(parsed("missing"), (7, 0));
    assert_eq!(parsed("force"), (7, 7));
    assert_eq!(parsed("skip"), (7, 0));
}

#[test]
fn a_file_is_validated_on_its_own() {
    let workplace = made();
    let run =
        workplace.mine(&["validate", "out/blocks/Scale.py", "--level", "forward", "--format", "json"]).succeeded();
    assert_eq!((&run.json()[0]["class"], &run.json()[0]["level"]), (&"Scale".into(), &5.into()));
    workplace.write("own/broken.py", "import torch\nclass Broken(torch.nn.Module):\n    x = nowhere\n");
    let run = workplace.mine(&["validate", "own/broken.py", "--level", "execute", "--format", "json"]).ended(1);
    assert_eq!(run.json()[0]["failure"]["class"], "unresolved_name");
}

#[test]
fn a_folder_of_models_is_deduplicated() {
    let workplace = Workplace::new();
    let model = workplace.read("package/small/models.py");
    workplace.write("models/a.py", &model);
    workplace.write("models/b.py", &model);
    workplace.write("models/c.py", &workplace.read("package/small/layers.py"));
    for preset in ["default", "nn-dup"] {
        let out = format!("unique-{preset}");
        let arguments = ["dedup", "run", "models", "--preset", preset, "--out", &out, "--format", "json"];
        let json = workplace.netquarry(&arguments).succeeded().json();
        assert_eq!(json[0]["reason"], "exact", "{preset}");
        let kept: Vec<String> = tree(&workplace.path(&out)).into_iter().map(|(path, _)| path).collect();
        assert_eq!(kept.len(), 3, "{kept:?}");
        assert_eq!(workplace.read(&format!("{out}/decisions.jsonl")).lines().count(), 3);
    }
    assert_eq!(workplace.netquarry(&["dedup", "run", "models", "--preset", "none"]).ended(2).stdout, "");
}

#[test]
fn plugins_and_corpora_are_listed() {
    let workplace = Workplace::new();
    let plugins = workplace.netquarry(&["plugin", "list", "--format", "json"]).succeeded().json();
    let used: Vec<&str> = plugins
        .as_array()
        .unwrap()
        .iter()
        .filter(|plugin| !plugin["order"].is_null())
        .map(|plugin| plugin["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        used,
        [
            "dedup-exact",
            "dedup-lexical",
            "dedup-structural",
            "discover-nn-module-deep",
            "shim-detectron2",
            "shim-timm",
            "shim-torch-geometric",
            "shim-torchvision",
            "shim-transformers",
            "shim-ultralytics",
            "emit-neutral-spec"
        ]
    );
    let corpora = workplace.netquarry(&["corpus", "list", "--format", "json"]).succeeded().json();
    assert_eq!(corpora[0]["name"], "quickstart");
    assert_eq!(workplace.netquarry(&["corpus", "show", "corpus.json"]).succeeded().json()["name"], "small");
    let schema = workplace.netquarry(&["corpus", "schema"]).succeeded().json();
    assert_eq!(schema["title"], "Corpus");
}

#[test]
fn the_discovery_rule_is_a_choice() {
    let workplace = made();
    let json = workplace.mine(&["discover", "--discover", "discover-nn-module", "--format", "json"]).succeeded().json();
    assert!(json[0]["reason"].as_str().unwrap().starts_with("discover-nn-module 0."), "{json}");
}

#[test]
fn a_package_can_stay_an_import() {
    let workplace = made();
    let json = workplace.mine(&["assemble", "--keep-import", "small", "--format", "json"]).succeeded().json();
    let net = json.as_array().unwrap().iter().find(|row| row["block"] == "small:small.models.Net").unwrap();
    assert_eq!(net["requirements"], serde_json::json!(["small", "torch"]));
}

#[test]
fn every_stage_can_be_measured() {
    let arguments = ["bench", "--without-python", "--repeat", "1", "--format", "json"];
    let json = made().mine(&arguments).succeeded().json();
    assert_eq!(json["corpus"], "small");
    let measured: Vec<&str> =
        json["measurements"].as_array().unwrap().iter().map(|each| each["what"].as_str().unwrap()).collect();
    assert_eq!(measured[0], "parse and index, cold");
    assert_eq!(measured.last(), Some(&"assemble"));
}

#[test]
fn completions_are_printed_for_shells() {
    let workplace = Workplace::new();
    for shell in ["bash", "zsh", "fish"] {
        assert!(workplace.netquarry(&["completions", shell]).succeeded().stdout.contains("netquarry"), "{shell}");
    }
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let workplace = Workplace::new();
    let mut command = workplace.command(&["corpus", "schema"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!((child.wait().unwrap().code(), stderr.as_str()), (Some(0), ""));
}

#[test]
fn the_configuration_file_is_found_from_below() {
    let workplace = Workplace::new();
    workplace.write("netquarry.toml", "corpus = \"corpus.json\"\n");
    workplace.write("deep/below/.keep", "");
    let mut command = workplace.command(&["fetch", "--format", "json"]);
    command.current_dir(workplace.path("deep/below"));
    assert_eq!(Run::of(&mut command).succeeded().json()[0]["source"], "small");
}
