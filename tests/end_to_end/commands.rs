//! The other commands, and what all of them have in common.

use std::collections::BTreeSet;
use std::io::Read;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::library::made;
use super::support::{Playground, Run, python, tree};

#[test]
fn every_stage_lists_what_came_out_of_it() {
    let playground = made();
    for (stage, count) in
        [("fetch", 1), ("discover", 8), ("resolve", 8), ("assemble", 8), ("validate", 8), ("curate", 1)]
    {
        let json = playground.mine(&[stage, "--format", "json"]).succeeded().json();
        assert_eq!(json.as_array().unwrap().len(), count, "{stage}");
        let human = playground.mine(&[stage]).succeeded();
        assert!(human.stdout.lines().count() > count, "{stage}:\n{}", human.stdout);
    }
    let index = playground.mine(&["index", "--format", "json"]).succeeded().json();
    assert_eq!(index["unreadable"][0]["path"], "small/python_two.py");
    let emitted = playground.mine(&["emit"]).succeeded();
    assert!(emitted.stdout.contains("out/manifest.jsonl\n"), "{}", emitted.stdout);
}

#[test]
fn index_policies_decide_what_is_parsed() {
    let playground = Playground::new();
    let parsed = |policy: &str| {
        let json = playground.mine(&["index", "--index", policy, "--format", "json"]).succeeded().json();
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
    let playground = made();
    let run =
        playground.mine(&["validate", "out/blocks/Scale.py", "--level", "forward", "--format", "json"]).succeeded();
    assert_eq!((&run.json()[0]["class"], &run.json()[0]["level"]), (&"Scale".into(), &5.into()));
    playground.write("own/broken.py", "import torch\nclass Broken(torch.nn.Module):\n    x = nowhere\n");
    let run = playground.mine(&["validate", "own/broken.py", "--level", "execute", "--format", "json"]).ended(1);
    assert_eq!(run.json()[0]["failure"]["class"], "unresolved_name");
}

#[test]
fn a_file_has_to_reach_the_highest_level_that_is_tried() {
    let playground = made();
    let class = |name: &str, body: &str| {
        format!("class {name}(torch.nn.Module):\n    def forward(self, x):\n        return {body}\n\n\n")
    };
    let text = format!("import torch\n\n\n{}{}", class("First", "x"), class("Last", "nowhere"));
    playground.write("own/several.py", &text);
    let all = playground.mine(&["validate", "own/several.py", "--format", "json"]).ended(1).json();
    let class = |row: &serde_json::Value| row["class"].as_str().map(str::to_owned);
    let classes: Vec<_> = all.as_array().expect("a row for each").iter().filter_map(class).collect();
    assert_eq!(classes, ["First", "Last"]);
    let last = playground.mine(&["validate", "own/several.py:Last"]).ended(1);
    assert!(last.stdout.contains("unresolved_name at own/several.py:11: NameError"), "{}", last.stdout);
    playground.mine(&["validate", "own/several.py", "--level", "execute", "--quiet"]).succeeded();
    let first = playground.mine(&["validate", "own/several.py:First", "--format", "json"]).succeeded();
    assert_eq!((&first.json()[0]["class"], first.stderr.contains("Warning")), (&"First".into(), false));
}

#[test]
fn what_was_found_out_about_files_is_written_to_a_page() {
    let playground = made();
    let text = "import torch\n\n\nclass Whole(torch.nn.Module):\n    def forward(self, x):\n        return x + 1\n\n\n\
                class Broken(torch.nn.Module):\n    def forward(self, x):\n        return nowhere\n";
    playground.write("own/pair.py", text);
    playground.mine(&["validate", "own/pair.py", "--level", "backward", "--report", "verdicts.html"]).ended(1);
    let page = std::fs::read_to_string(playground.path("verdicts.html")).unwrap();
    for told in ["2 classes of 1 file", "unresolved_name at own/pair.py:11: NameError", "replayed: its exported graph"]
    {
        assert!(page.contains(told), "{told}:\n{page}");
    }
    let run = playground.mine(&["validate", "own/pair.py", "--report", "nowhere/verdicts.html"]).ended(2);
    assert!(run.stderr.contains("Could not write the report"), "{}", run.stderr);
    let run = playground.mine(&["validate", "own/pair.py", "--report", "own/../own/pair.py"]).ended(2);
    assert!(run.stderr.contains("is read and cannot be the report"), "{}", run.stderr);
    assert_eq!(playground.read("own/pair.py"), text);
    playground.mine(&["validate", "--report", "verdicts.html"]).ended(2);
}

#[test]
fn a_level_at_which_there_is_nothing_to_check_is_reached() {
    let playground = made();
    let text = "import torch\n\n\nclass Double(torch.nn.Module):\n    def forward(self, x):\n        return 2 * x\n";
    playground.write("own/double.py", text);
    let run = playground.mine(&["validate", "own/double.py", "--level", "backward", "--format", "json"]).succeeded();
    assert_eq!(run.json()[0]["levels"]["backward"], "not_applicable");
    let told = playground.mine(&["validate", "own/double.py", "--level", "backward"]).succeeded().stdout;
    assert!(told.contains("backward is not applicable"), "{told}");
}

#[test]
fn a_block_that_takes_too_long_is_ended() {
    let playground = made();
    playground
        .write("own/endless.py", "import torch\n\n\nclass Endless(torch.nn.Module):\n    while True:\n        pass\n");
    let run = playground.mine(&["validate", "own/endless.py", "--timeout", "8"]).ended(1);
    assert!(run.stdout.contains("cpu_time") && run.stdout.contains("more than 2 seconds"), "{}", run.stdout);
    let run = playground.mine(&["validate", "own/endless.py", "--timeout", "0"]).ended(2);
    assert!(run.stderr.contains("--timeout <SECONDS>"), "{}", run.stderr);
}

#[test]
fn a_file_says_what_is_left_open_and_where_it_is_wrong() {
    let playground = made();
    let text = "import torch\n\n\nclass Picky(torch.nn.Module):\n    def __init__(self, mystery):\n        \
                super().__init__()\n        self.size = mystery.rare_attribute\n";
    playground.write("own/picky.py", text);
    let picky = playground.mine(&["validate", "own/picky.py"]).ended(1);
    assert!(picky.stdout.contains("arguments_not_found: construct: "), "{}", picky.stdout);
    playground.write("own/wrong.py", "import torch\n\nclass Wrong(torch.nn.Module:\n    pass\n");
    let wrong = playground.mine(&["validate", "own/wrong.py"]).ended(1);
    assert!(wrong.stdout.contains("syntax at own/wrong.py:3: "), "{}", wrong.stdout);
}

#[test]
fn a_file_without_a_class_is_none_to_validate() {
    let playground = made();
    playground.write("own/__init__.py", "from . import several\n");
    let run = playground.mine(&["validate", "own/__init__.py"]).ended(2);
    assert!(run.stderr.contains("has no class in it"), "{}", run.stderr);
    playground.write("own/relative.py", "from .several import First\n\n\nclass Mine(First):\n    pass\n");
    let run = playground.mine(&["validate", "own/relative.py"]).ended(1);
    assert!(run.stderr.contains("relative imports"), "{}", run.stderr);
}

#[test]
fn what_lies_beside_a_file_is_not_looked_for_elsewhere() {
    let playground = made();
    playground.write("own/rescaling.py", "def scale(x):\n    return 2 * x\n");
    let text = "import torch\nfrom rescaling import scale\n\n\nclass Mine(torch.nn.Module):\n    def forward(self, x):\n        \
                return scale(x)\n";
    playground.write("own/uses.py", text);
    let run = playground.mine(&["validate", "own/uses.py"]).ended(1);
    let told = run.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("`rescaling` lies beside `own/uses.py`") && told.contains("netquarry extract"), "{told}");
}

#[test]
fn no_environment_is_made_without_a_network() {
    let playground = Playground::new();
    let bare = playground.path("bare");
    Run::of(Command::new(python()).args(["-m", "venv", "--without-pip"]).arg(&bare)).succeeded();
    let mut command = playground.command(&["run", "--corpus", "corpus.json", "--offline"]);
    command.env("PATH", bare.join("bin")).env_remove("VIRTUAL_ENV").env_remove("NETQUARRY_PYTHON");
    let run = Run::of(&mut command).ended(2);
    assert!(run.stderr.contains("--python") && run.stderr.contains("netquarry env prepare"), "{}", run.stderr);
}

#[test]
fn a_folder_of_models_is_deduplicated() {
    let playground = Playground::new();
    let model = playground.read("package/small/models.py");
    playground.write("models/a.py", &model);
    playground.write("models/b.py", &model);
    playground.write("models/c.py", &playground.read("package/small/layers.py"));
    let nn_dup = ["accepted_code", "accepted_code", "dedup_report.md", "kept_records.json", "splits.json"];
    let layouts =
        [("default", vec!["kept", "kept", "report.md"]), ("nn-dup", [&nn_dup[..], &["tombstones.json"]].concat())];
    for (preset, own) in layouts {
        let out = format!("unique-{preset}");
        let arguments = ["dedup", "run", "models", "--preset", preset, "--out", &out, "--format", "json"];
        let json = playground.netquarry(&arguments).succeeded().json();
        assert_eq!(json[0]["reason"], "exact", "{preset}");
        let written: BTreeSet<String> = tree(&playground.path(&out)).into_iter().map(|(path, _)| path).collect();
        let mut tops: Vec<&str> = written.iter().map(|path| path.split('/').next().unwrap()).collect();
        tops.retain(|top| !["decisions.jsonl", "report.html"].contains(top));
        assert_eq!(tops, own);
        let decisions = playground.read(&format!("{out}/decisions.jsonl"));
        let decisions: Vec<Value> = decisions.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(decisions.len(), 3);
        for decision in &decisions {
            let is_kept = decision["decision"] == "kept";
            assert_eq!(decision["split"].is_string() && decision["family"].is_string(), is_kept, "{decision}");
        }
    }
    assert!(playground.read("unique-default/report.md").contains("| removed: exact | 1 |"));
    let told = playground.netquarry(&["dedup", "run", "models", "--out", "unique-default"]).succeeded().stderr;
    assert!(told.contains("Wrote 2 kept files, decisions.jsonl and the report to `unique-default`"), "{told}");
    assert_eq!(playground.netquarry(&["dedup", "run", "models", "--preset", "none"]).ended(2).stdout, "");
}

#[test]
fn only_what_is_new_is_looked_at_where_that_was_asked_for() {
    let playground = Playground::new();
    let rows = |count: usize| -> String {
        let code = |number: usize| {
            let steps: String =
                (0..=number).map(|step| format!("        x = self.step_{step}(x + {step})\n")).collect();
            format!("class Net(nn.Module):\n    def forward(self, x):\n{steps}        return x\n")
        };
        (0..count).map(|number| json!({"nn": "Net", "code": code(number)}).to_string() + "\n").collect()
    };
    let run = |options: &[&str]| {
        let told = playground.netquarry(&[&["dedup", "run", "models.jsonl"], options].concat()).succeeded().stderr;
        let known =
            told.split_once("; ").and_then(|(_, known)| known.split_once(" of them known")).map(|(known, _)| known);
        known.map_or(0, |known| known.parse().unwrap())
    };
    playground.write("models.jsonl", &rows(9));
    assert_eq!(run(&[]), 0);
    assert_eq!(run(&["--incremental", "--out", "first"]), 0);
    playground.write("models.jsonl", &rows(12));
    assert_eq!(run(&["--incremental", "--out", "more"]), 9);
    assert_eq!(run(&["--incremental", "--out", "again"]), 12);
    assert_eq!(run(&["--out", "afresh"]), 0);
    let [more, again, afresh] = ["more", "again", "afresh"].map(|out| tree(&playground.path(out)));
    assert!(more == afresh && again == afresh);
}

#[test]
fn blocks_of_a_new_source_are_compared_with_known_ones() {
    let playground = Playground::new();
    playground.mine(&["run"]).succeeded();
    let course = || -> Value {
        let record: Value = serde_json::from_str(&playground.read("out/run.json")).unwrap();
        let stages = record["course"]["stages"].as_array().unwrap().clone();
        stages.into_iter().find(|stage| stage["stage"] == "curate").unwrap()
    };
    let before = course();
    assert!(before["cached"] == 0 && before["items"].as_u64().unwrap() > 3, "{before}");
    playground.write(
        "more/more.py",
        "from torch import nn\n\n\nclass More(nn.Module):\n    def forward(self, x):\n        return x.exp()\n",
    );
    let corpus = playground.read("corpus.json");
    let source = r#"{"name": "more", "location": {"local": {"path": "more"}}},"#;
    playground.write("corpus.json", &corpus.replace(r#""sources": ["#, &format!(r#""sources": [{source}"#)));
    playground.mine(&["run"]).succeeded();
    let after = course();
    assert_eq!(after["items"].as_u64().unwrap(), before["items"].as_u64().unwrap() + 1);
    assert_eq!(after["cached"], before["items"], "{after}");
    assert!(playground.mine(&["dedup", "run", "out"]).succeeded().stderr.contains(" of them known from earlier"));
}

#[test]
fn a_strategy_that_fails_is_told_and_costs_the_others_nothing() {
    let playground = Playground::new();
    let model = playground.read("package/small/models.py");
    ["a", "b"].iter().for_each(|name| playground.write(&format!("models/{name}.py"), &model));
    playground.write("netquarry.toml", "[plugin.dedup-lexical]\npermutations = 64\nbands = 8\n");
    let run = playground.netquarry(&["dedup", "run", "models", "--format", "json"]).ended(2);
    assert_eq!(run.json()[0]["reason"], "exact");
    assert!(run.stderr.contains("dedup-lexical") && run.stderr.contains("64 permutations"), "{}", run.stderr);
}

#[test]
fn two_models_are_explained() {
    let playground = Playground::new();
    let model = playground.read("package/small/models.py");
    playground.write("models/a.py", &model);
    playground.write("models/b.py", &format!("{model}# a comment\n"));
    playground.write("models/c.py", &playground.read("package/small/layers.py"));
    let explain = |arguments: &[&str]| playground.netquarry(&[&["dedup", "explain"], arguments].concat());
    let copies = explain(&["a", "models/b.py", "--input", "models"]).succeeded().stdout;
    assert!(copies.contains("dedup-exact: keeps both\n"), "{copies}");
    assert!(copies.contains("dedup-canonical: removes B, canonical (1.000)\n"), "{copies}");
    let others = explain(&["models/a.py", "models/c.py", "--format", "json"]).succeeded().json();
    assert_eq!(others["equal_code"], false);
    assert!(others["lexical"][0]["jaccard"].as_f64().unwrap() < 0.5, "{others}");
    assert!(others["strategies"].as_array().unwrap().iter().all(|strategy| strategy["removes"].is_null()), "{others}");
    let unknown = explain(&["a", "d", "--input", "models"]).ended(2).stderr;
    assert!(unknown.contains("`d` is no Python file and no model of `models`"), "{unknown}");
}

#[test]
fn thresholds_are_swept() {
    let playground = Playground::new();
    let model = playground.read("package/small/models.py");
    playground.write("models/a.py", &model);
    playground.write("models/b.py", &format!("{model}\n\ndef unused(x):\n    return x\n"));
    let arguments = ["dedup", "sweep", "models", "--lexical", "0.5,1", "--format", "json"];
    let points = playground.netquarry(&arguments).succeeded().json();
    let point = |lexical: f64, kept: u64| json!({"lexical": lexical, "structural": null, "kept": kept});
    assert_eq!(points, json!([point(0.5, 1), point(1.0, 2)]));
    let arguments = ["dedup", "sweep", "models", "--preset", "nn-dup", "--structural", "1", "--report", "sweep.html"];
    let table = playground.netquarry(&arguments).succeeded().stdout;
    assert!(playground.read("sweep.html").contains("structural 1.00: 1"));
    assert!(table.contains("structural 1.00"), "{table}");
    let wrong = playground.netquarry(&["dedup", "sweep", "models", "--lexical", "2"]).ended(2).stderr;
    assert!(wrong.contains("a similarity is between 0 and 1"), "{wrong}");
    let unused = playground.netquarry(&["dedup", "sweep", "models", "--structural", "0.5"]).ended(2).stderr;
    assert!(unused.contains("--structural moves the threshold of dedup-structural, which is not used"), "{unused}");
}

#[test]
fn a_deduplication_never_replaces_a_library() {
    let playground = made();
    let before = tree(&playground.path("out"));
    for input in ["out", "package"] {
        let run = playground.netquarry(&["dedup", "run", input, "--out", "out"]).ended(2);
        assert!(run.stderr.contains("--out"), "{}", run.stderr);
    }
    assert!(tree(&playground.path("out")) == before, "the library has changed");
}

#[test]
fn plugins_and_corpora_are_listed() {
    let playground = Playground::new();
    let plugins = playground.netquarry(&["plugin", "list", "--format", "json"]).succeeded().json();
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
            "dedup-canonical",
            "dedup-lexical",
            "discover-nn-module-deep",
            "shim-detectron2",
            "shim-mmlab",
            "shim-timm",
            "shim-torch-geometric",
            "shim-torchvision",
            "shim-transformers",
            "shim-ultralytics",
            "emit-neutral-spec"
        ]
    );
    let corpora = playground.netquarry(&["corpus", "list", "--format", "json"]).succeeded().json();
    assert_eq!(corpora[0]["name"], "quickstart");
    assert_eq!(playground.netquarry(&["corpus", "show", "corpus.json"]).succeeded().json()["name"], "small");
    let schema = playground.netquarry(&["corpus", "schema"]).succeeded().json();
    assert_eq!(schema["title"], "Corpus");
}

#[test]
fn the_discovery_rule_is_a_choice() {
    let playground = made();
    let json =
        playground.mine(&["discover", "--discover", "discover-nn-module", "--format", "json"]).succeeded().json();
    assert!(json[0]["reason"].as_str().unwrap().starts_with("discover-nn-module 0."), "{json}");
}

#[test]
fn a_package_can_stay_an_import() {
    let playground = made();
    let json = playground.mine(&["assemble", "--keep-import", "small", "--format", "json"]).succeeded().json();
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
    assert_eq!(measured.last(), Some(&"curate, without verdicts"));
}

#[test]
fn completions_are_printed_for_shells() {
    let playground = Playground::new();
    for shell in ["bash", "zsh", "fish"] {
        assert!(playground.netquarry(&["completions", shell]).succeeded().stdout.contains("netquarry"), "{shell}");
    }
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let playground = Playground::new();
    let mut command = playground.command(&["corpus", "schema"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!((child.wait().unwrap().code(), stderr.as_str()), (Some(0), ""));
}

#[test]
fn the_configuration_file_is_found_from_below() {
    let playground = Playground::new();
    playground.write("netquarry.toml", "corpus = \"corpus.json\"\n");
    playground.write("deep/below/.keep", "");
    let mut command = playground.command(&["fetch", "--format", "json"]);
    command.current_dir(playground.path("deep/below"));
    assert_eq!(Run::of(&mut command).succeeded().json()[0]["source"], "small");
}

#[test]
fn a_split_that_nobody_is_on_and_a_prefix_that_nobody_has_are_told() {
    let playground = Playground::new();
    let shared = "x = layer(x) + self.scale\n        ".repeat(12);
    // Different networks of one family.
    for operation in ["sin", "cos", "tan", "exp", "abs", "log", "tanh", "ceil", "floor", "round", "sqrt", "neg"] {
        let model = format!(
            "import torch\nfrom torch import nn\n\n\nclass Model(nn.Module):\n    def forward(self, x, layer):\n        \
             {shared}return torch.{operation}(x)\n"
        );
        playground.write(&format!("models/{operation}.py"), &model);
    }
    let told = playground.netquarry(&["dedup", "run", "models", "--out", "unique"]).succeeded().stderr;
    assert!(told.contains("of the split") && told.contains("has 12 models"), "{told}");
    let report = playground.read("unique/report.md");
    assert!(report.contains("Preset `default`: `dedup-exact`, `dedup-canonical`, `dedup-lexical`."), "{report}");
    assert!(report.contains("Models with half the same code or of equal structure are one family"), "{report}");
    let wrong = playground.netquarry(&["dedup", "run", "models", "--include", "rag-"]).ended(2).stderr;
    assert!(wrong.contains("Of 12 models in `models` none has a name that begins with `rag-`"), "{wrong}");
}
