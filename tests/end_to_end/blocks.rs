//! Single blocks: `extract` and `show`.

use std::process::Command;

use super::library::made;
use super::support::{Playground, Run, python, tree};

#[test]
fn a_block_is_extracted_by_any_part_of_its_name() {
    let playground = Playground::new();
    let run = playground.mine(&["extract", "Scale", "models.Net", "--quiet"]).succeeded();
    assert!(
        run.stdout.contains("small:small.layers.Scale") && run.stdout.contains("out/blocks/Scale.py"),
        "{}",
        run.stdout
    );
    assert!(playground.path("out/blocks/Net.py").is_file());
    // What was there before stays.
    playground.mine(&["extract", "small:small.models.Block", "--quiet"]).succeeded();
    assert_eq!(playground.manifest("out").len(), 3);
    assert!(playground.path("out/blocks/Scale.py").is_file());
}

#[test]
fn a_block_that_is_added_is_tried_and_described_like_the_rest_of_its_library() {
    let playground = Playground::new();
    let asked = ["--level", "backward", "--emit", "emit-neutral-spec,emit-nn-gpt"];
    playground.mine(&[&["run", "--quiet"], &asked[..]].concat()).succeeded();
    let before = tree(&playground.path("out"));
    playground.mine(&["extract", "small.layers.Scale", "--quiet"]).succeeded();
    assert!(before == tree(&playground.path("out")), "{:?}", playground.path("out"));
    // Who asks for one emitter has one.
    playground.mine(&["extract", "small.layers.Scale", "--emit", "emit-nn-gpt", "--quiet"]).succeeded();
    assert!(!playground.path("out/specs/emit-neutral-spec").exists());
}

#[test]
fn an_ambiguous_name_is_answered_with_all_blocks_that_bear_it() {
    let playground = Playground::new();
    let json = playground.mine(&["extract", "Block", "Scale", "--format", "json"]).ended(2).json();
    let names = serde_json::json!([{"name": "Block", "candidates":
        ["small:small.copies.Block", "small:small.layers.Block", "small:small.models.Block"]}]);
    assert_eq!(json["ambiguous"], names);
    // The name beside it is unambiguous.
    assert_eq!(json["extracted"][0]["block"], "small:small.layers.Scale");

    let all = playground.mine(&["extract", "Block", "--all", "--format", "json"]).succeeded().json();
    assert_eq!(all["extracted"].as_array().unwrap().len(), 3);
    let first = playground.mine(&["extract", "Block", "--first", "--format", "json"]).succeeded().json();
    assert_eq!(first["extracted"][0]["block"], "small:small.copies.Block");
}

#[test]
fn names_come_from_a_list_with_a_start_and_an_end() {
    let playground = Playground::new();
    playground.write("names.json", r#"["NeedsName", "Scale", "Net", "small.models.Block"]"#);
    let arguments =
        ["extract", "--from-json", "names.json", "--start-from", "Scale", "--limit", "2", "--format", "json"];
    let json = playground.mine(&arguments).succeeded().json();
    let blocks: Vec<&str> =
        json["extracted"].as_array().unwrap().iter().map(|each| each["name"].as_str().unwrap()).collect();
    assert_eq!(blocks, ["Scale", "Net"]);
}

#[test]
fn a_block_that_stays_below_the_gate_is_a_finding() {
    let playground = Playground::new();
    let run = playground.mine(&["extract", "NeedsName", "--quiet"]).ended(1);
    assert!(run.stdout.contains("unresolved_name"), "{}", run.stdout);
    assert!(playground.path("out/failed/NeedsName.py").is_file());
    let again = playground.mine(&["extract", "--retry-failed", "--format", "json", "--quiet"]).ended(1).json();
    assert_eq!(again["extracted"][0]["name"], "NeedsName");
}

#[test]
fn a_block_is_shown_with_closure_verdict_and_provenance() {
    let shown = made().mine(&["show", "layers.Block"]).succeeded();
    insta::assert_snapshot!(shown.stdout);
}

#[test]
fn the_code_alone_is_shown_to_the_byte() {
    let playground = made();
    assert_eq!(
        playground.mine(&["show", "Scale", "--code"]).succeeded().stdout,
        playground.read("out/blocks/Scale.py")
    );
    assert_eq!(
        playground.netquarry(&["show", "out/blocks/Scale.py", "--code"]).succeeded().stdout,
        playground.read("out/blocks/Scale.py")
    );
}

#[test]
fn a_duplicate_is_shown_with_its_survivor() {
    let playground = made();
    let manifest = playground.manifest("out");
    let removed =
        manifest.values().find(|record| record["dedup"]["decision"] == "removed").expect("there is a duplicate");
    let shown = playground.mine(&["show", removed["block"].as_str().unwrap()]).succeeded();
    assert!(shown.stdout.contains(removed["dedup"]["survivor"].as_str().unwrap()), "{}", shown.stdout);
    let bundle = removed["bundle"].as_str().expect("its bundle is kept, too");
    assert!(bundle.starts_with("duplicates/") && playground.path("out").join(bundle).is_file(), "{bundle}");
    assert!(shown.stdout.contains(&format!("out/{bundle}")), "{}", shown.stdout);
}

#[test]
fn a_run_says_which_blocks_of_extract_it_does_not_keep() {
    let playground = Playground::new();
    playground.mine(&["extract", "Block", "--all", "--quiet"]).succeeded();
    let run = playground.mine(&["run"]).succeeded();
    assert!(run.stderr.contains("1 block that `extract` had added went"), "{}", run.stderr);
    assert!(!playground.mine(&["run"]).succeeded().stderr.contains("extract"));
}

#[test]
fn a_name_that_is_nearly_right_is_guessed() {
    let run = made().mine(&["show", "Scael"]).ended(2);
    assert!(run.stderr.contains("did you mean small:small.layers.Scale?"), "{}", run.stderr);
}

#[test]
fn what_waits_for_a_package_can_be_traced_as_an_import_can() {
    let playground = Playground::new();
    playground.write(
        "package/small/kernels.py",
        "import numpy\nfrom colorsys import ONE_THIRD\n\nSIZE = numpy.int64(3).item()\n\n\ndef scaled(x):\n    \
         return x * SIZE * float(numpy.pi) * ONE_THIRD\n",
    );
    playground.write(
        "package/small/missing.py",
        "import surely_not_installed\n\nSIZE = surely_not_installed.SIZE\n\n\ndef scaled(x):\n    return x * SIZE\n",
    );
    playground.write(
        "package/small/late.py",
        "from torch import nn\n\n\nclass Late(nn.Module):\n    def forward(self, x):\n        \
         from .kernels import scaled\n\n        return scaled(x)\n\n\nclass Guarded(nn.Module):\n    \
         def forward(self, x):\n        try:\n            from .missing import scaled\n        \
         except ImportError:\n            return x * 2\n        return scaled(x)\n",
    );
    playground.mine(&["extract", "Late", "Guarded", "--quiet"]).succeeded();
    assert!(playground.read("out/blocks/Late.py").contains("def import_kernels():"));
    assert!(playground.read("out/blocks/Guarded.py").contains("def import_missing():"));
    let compiled = |class: &str, options: &str, import: &str| {
        let script = format!(
            "import sys\nimport torch\n{import} import {class}\n\
             model = torch.compile({class}(), backend='eager'{options})\nprint(model(torch.ones(2)).tolist())\n"
        );
        Run::of(Command::new(python()).args(["-c", &script]).current_dir(playground.path("."))).succeeded().stdout
    };
    // What fails while it is imported breaks upstream's graph too.
    for (class, options) in [("Late", ", fullgraph=True"), ("Guarded", "")] {
        let upstream = compiled(class, options, "sys.path.insert(0, 'package')\nfrom small.late");
        let bundle = compiled(class, options, &format!("sys.path.insert(0, 'out/blocks')\nfrom {class}"));
        assert_eq!(upstream, bundle, "{class}");
    }
}
