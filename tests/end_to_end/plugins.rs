//! The life of a plugin: written, built, tested, used, packed, and compared with its next version.

use std::fs;
use std::process::Command;

use serde_json::json;

use super::support::{Playground, Run, python, without_digests};

/// A repository whose class enters itself into a table, which reads a file beside the source when it is imported.
pub(crate) fn write_repository(playground: &Playground) {
    playground.write("acme-repo/acme/__init__.py", "");
    playground.write("acme-repo/acme/names.txt", "head neck\n");
    playground.write(
        "acme-repo/acme/registry.py",
        "from pathlib import Path\n\nNAMES = Path(__file__).with_name(\"names.txt\").read_text().split()\nTABLE = {}\n\n\n\
         def register(name):\n    def keep(cls):\n        TABLE[NAMES.index(name)] = cls\n        return cls\n\n    return keep\n",
    );
    playground.write(
        "acme-repo/acme/heads.py",
        "import torch.nn as nn\n\nfrom acme.registry import register\n\n\n@register(\"head\")\nclass Head(nn.Module):\n    \
         def __init__(self, width=64):\n        super().__init__()\n        self.project = nn.Linear(width, 10)\n\n    \
         def forward(self, x):\n        return self.project(x)\n",
    );
    let sources = json!([{"name": "acme", "location": {"local": {"path": "acme-repo"}}}]);
    playground.write("acme.json", &json!({"name": "acme", "sources": sources}).to_string());
}

/// What is built of the plugins of these tests lies in one folder: they are of the same crates.
const BUILT: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/plugins");

/// `netquarry plugin` with `arguments`. What it builds is optimised less than an author's plugin is, and built sooner.
pub(crate) fn plugin(playground: &Playground, arguments: &[&str]) -> Run {
    let mut command = plugin_of_author(playground, arguments);
    command.env("CARGO_PROFILE_RELEASE_LTO", "off").env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1");
    Run::of(command.env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16"))
}

/// Likewise as the manifest of the plugin has it.
fn plugin_of_author(playground: &Playground, arguments: &[&str]) -> Command {
    let mut command = playground.command(&[&["plugin"], arguments].concat());
    command.env("CARGO_TARGET_DIR", BUILT);
    command
}

/// As `sdk/rust/README.md` tells it.
#[test]
fn a_shim_is_written_and_mends_a_block() {
    let playground = Playground::new();
    write_repository(&playground);
    let run = || {
        let python = python().to_str().expect("a path of ours is UTF-8");
        playground.netquarry(&["run", "--corpus", "acme.json", "--python", python])
    };
    run().succeeded();
    assert!(!playground.path("out/blocks/Head.py").exists());

    plugin(&playground, &["new", "shim-acme", "--kind", "repo-shim"]).succeeded();
    let tested = plugin(&playground, &["test", "shim-acme", "--format", "json"]).succeeded().json();
    assert_eq!(tested["tried"][0], json!({"origin": "example", "name": "registered-head", "outcome": "passed"}));
    assert_eq!(tested["passed"], tested["tried"].as_array().expect("a list").len());
    playground.write("netquarry.toml", "[plugins]\nshims = [\"shim-acme/target/shim-acme.wasm\"]\n");
    run().succeeded();
    assert!(!playground.read("out/blocks/Head.py").contains("register"));
    let costs = playground.netquarry(&["report", "costs", "--format", "json"]).succeeded().json();
    let told =
        costs.as_array().expect("a list").iter().find(|cost| cost["plugin"] == "shim-acme" && cost["stage"] == "tell");
    assert_eq!(told.expect("the shim told its tables")["calls"], 1);

    Run::of(&mut plugin_of_author(&playground, &["pack", "shim-acme"])).succeeded();
    let (component, golden) = ("dist/shim-acme-0.1.0.wasm", "dist/shim-acme-0.1.0.golden.json");
    plugin(&playground, &["verify", component, golden]).succeeded();
    // The same source gives the same bytes.
    let first = fs::read(playground.path(component)).expect("it was packed");
    fs::remove_file(playground.path("shim-acme/target/shim-acme.wasm")).expect("it was built");
    Run::of(&mut plugin_of_author(&playground, &["build", "shim-acme", "--output", "again.wasm"])).succeeded();
    assert!(first == fs::read(playground.path("again.wasm")).expect("it was built"));

    let library = "shim-acme/src/lib.rs";
    playground.write(library, &playground.read(library).replace("acme.registry.register", "acme.registry.enter"));
    let diff = plugin(&playground, &["diff", component, "shim-acme", "--format", "json"]).ended(1).json();
    assert_eq!(diff["differences"][0][0], "registered-head");
    let tested = plugin(&playground, &["test", "shim-acme"]).ended(1);
    assert!(tested.stdout.contains("example  registered-head: DIFFERENT"), "{}", tested.stdout);
    plugin(&playground, &["test", "shim-acme", "--bless"]).succeeded();
    plugin(&playground, &["test", "shim-acme"]).succeeded();
    plugin(&playground, &["build", "shim-acme", "--output", "changed.wasm"]).succeeded();
    let verified = plugin(&playground, &["verify", "changed.wasm", golden, "--format", "json"]).ended(1).json();
    assert_eq!(verified[0]["differences"][0][0], "example-registered-head");
}

#[test]
fn every_kind_starts_with_what_builds_and_passes() {
    for kind in ["discovery-rule", "dedup-strategy", "spec-emitter"] {
        let playground = Playground::new();
        plugin(&playground, &["new", "mine", "--kind", kind]).succeeded();
        plugin(&playground, &["test", "mine"]).succeeded();
        let mut cargo = Command::new("cargo");
        cargo.args(["test", "--quiet"]).current_dir(playground.path("mine"));
        Run::of(cargo.env("CARGO_TARGET_DIR", BUILT)).succeeded();
    }
}

/// componentize-py comes from PyPI, once for all tests.
#[test]
fn a_shim_in_python_does_as_the_one_in_rust() {
    let playground = Playground::new();
    let in_shared_cache = |arguments: &[&str]| {
        let cache = concat!(env!("CARGO_TARGET_TMPDIR"), "/python-plugins");
        plugin(&playground, &[arguments, &["--cache-dir", cache]].concat())
    };
    plugin(&playground, &["new", "shim-acme", "--kind", "repo-shim"]).succeeded();
    plugin(&playground, &["build", "shim-acme", "--output", "rust.wasm"]).succeeded();
    let new = ["new", "shim-acme", "--kind", "repo-shim", "--language", "python", "--path", "python"];
    plugin(&playground, &new).succeeded();
    in_shared_cache(&["test", "python"]).succeeded();
    playground.write(
        "python/shim_acme/__init__.py",
        "from netquarry_sdk.shim import RepoShim, Rule, Tables\n\n\nclass ShimAcme(RepoShim):\n    \"\"\"The same rules.\"\"\"\n\n    \
         name = \"shim-acme\"\n    version = \"0.1.0\"\n    examples = [\"examples/*.json\"]\n\n    \
         def tables(self) -> Tables:\n        why = \"returns the class as it is; the table that it fills serves acme's command \
         line\"\n        return Tables(packages=[\"acme\"], dropped_decorators=[Rule(\"acme.registry.register\", why)])\n",
    );
    fs::remove_file(playground.path("python/examples/model.json")).expect("the template has it");
    let example = "examples/registered-head.json";
    playground.write(&format!("python/{example}"), &playground.read(&format!("shim-acme/{example}")));
    in_shared_cache(&["test", "python"]).succeeded();
    // Another build would give other bytes, so what was tested stays the component.
    let tested = fs::read(playground.path("python/target/shim-acme.wasm")).expect("it was built");
    let built = in_shared_cache(&["build", "python", "--output", "python.wasm"]).succeeded();
    assert!(built.stderr.contains("Fresh"), "{}", built.stderr);
    assert!(fs::read(playground.path("python.wasm")).expect("it was built") == tested);
    in_shared_cache(&["diff", "rust.wasm", "python.wasm"]).succeeded();
}

#[test]
fn a_fixture_is_a_folder() {
    let playground = Playground::new();
    plugin(&playground, &["new", "mine", "--kind", "discovery-rule"]).succeeded();
    playground.write(
        "mine/fixtures/necks/input/acme/necks.py",
        "import torch.nn as nn\n\n\nclass Neck(nn.Module):\n    pass\n",
    );
    playground.write("mine/fixtures/necks/fixture.json", "{\"configuration\": {\"suffix\": \"Neck\"}}\n");
    let unseen = plugin(&playground, &["test", "mine"]).ended(1);
    assert!(unseen.stdout.contains("fixture  necks: UNSEEN"), "{}", unseen.stdout);
    plugin(&playground, &["test", "mine", "--bless"]).succeeded();
    let expected: serde_json::Value =
        serde_json::from_str(&playground.read("mine/fixtures/necks/expected.json")).expect("JSON");
    assert_eq!(expected["candidates"][0]["path"], "acme.necks.Neck");
    playground.write("mine/fixtures/necks/fixture.json", "{\"configuration\": {\"sufix\": \"Neck\"}}\n");
    let wrong = plugin(&playground, &["test", "mine"]).ended(1);
    assert!(wrong.stdout.contains("fixture  necks: UNUSABLE") && wrong.stdout.contains("/sufix"), "{}", wrong.stdout);
    playground.write("mine/fixtures/necks/fixture.json", "{\"block\": []}\n");
    assert!(plugin(&playground, &["test", "mine"]).ended(2).stderr.contains("unknown field `block`"));
}

#[test]
fn what_is_wrong_with_a_configuration_is_pointed_at() {
    let playground = Playground::new();
    playground.write(
        "netquarry.toml",
        "[plugins]\nshims = [\"shim-timm\", \"shim-tmm\"]\ndedup = [\"dedup-exact\", \"shim-timm\"]\n\
         [plugin.dedup-exact]\nprefer = [\"level\", \"beauty\"]\n[plugin.dedup-lexial]\nthreshold = 0.8\n",
    );
    let checked = playground.netquarry(&["config", "check"]).ended(1);
    insta::assert_snapshot!(without_digests(&checked.stderr));
    playground.write("netquarry.toml", "[plugin.dedup-lexical]\nthreshold = 0.8\n");
    playground.netquarry(&["config", "check"]).succeeded();
    let schema = playground.netquarry(&["config", "schema"]).succeeded().json();
    let options = &schema["properties"]["plugin"]["properties"]["dedup-lexical"]["properties"];
    assert!(options["threshold"].is_object(), "{options}");
}

#[test]
fn options_can_be_of_one_source() {
    let playground = Playground::new();
    let block = "import torch.nn as nn\n\nif nn:\n    class Maybe(nn.Module):\n        def forward(self, x):\n            return x\n\n\n\
                 class Always(nn.Module):\n    def forward(self, x):\n        return x\n";
    for source in ["one", "two"] {
        playground.write(&format!("{source}/{source}/__init__.py"), block);
    }
    let local = |name: &str| json!({"name": name, "location": {"local": {"path": name}}});
    playground.write("both.json", &json!({"name": "both", "sources": [local("one"), local("two")]}).to_string());
    let configure = |further: &str| {
        let own = "corpus = \"both.json\"\n[plugin.discover-nn-module-deep]\nconditional = false\n";
        playground.write("netquarry.toml", &format!("{own}{further}"));
    };
    let discovered = || {
        let found = playground.netquarry(&["discover", "--format", "json"]).succeeded().json();
        let blocks = found.as_array().expect("a list").iter();
        blocks.map(|block| block["block"].as_str().expect("a name").to_owned()).collect::<Vec<_>>()
    };
    configure("");
    assert_eq!(discovered(), ["one:one.Always", "two:two.Always"]);
    configure("[for-source.two.plugin.discover-nn-module-deep]\nconditional = true\n");
    assert_eq!(discovered(), ["one:one.Always", "two:two.Always", "two:two.Maybe"]);
    playground.netquarry(&["config", "check"]).succeeded();

    configure("[for-source.tow.plugin.discover-nn-module-deep]\nconditional = true\n");
    let told = playground.netquarry(&["discover"]).succeeded();
    assert!(told.stderr.contains("[for-source.tow] is about no source of the corpus `both`"), "{}", told.stderr);
    let refused = playground.netquarry(&["config", "check"]).ended(1);
    assert!(refused.stderr.contains("has no source `tow` to have options"), "{}", refused.stderr);
    configure("[for-source.two.plugin.discover-nn-module-dep]\nconditional = true\n");
    let told = playground.netquarry(&["discover"]).succeeded();
    assert!(told.stderr.contains("did you mean `discover-nn-module-deep`?"), "{}", told.stderr);
    let refused = playground.netquarry(&["config", "check"]).ended(1);
    assert!(refused.stderr.contains("no plugin `discover-nn-module-dep` to have options"), "{}", refused.stderr);
    configure("[for-source.two.plugin.discover-nn-module-deep]\nconditional = 7\n");
    assert!(
        playground.netquarry(&["discover"]).ended(2).stderr.contains("[for-source.two.plugin.discover-nn-module-deep]")
    );
    assert!(playground.netquarry(&["config", "check"]).ended(1).stderr.contains("conditional = 7"));
    // Each at its own place.
    configure(
        "[for-source.one.plugin.dedup-lexical]\nthreshold = 0.5\n[for-source.two.plugin.dedup-lexical]\nthreshold = 0.6\n",
    );
    let refused = playground.netquarry(&["config", "check"]).ended(1).stderr;
    assert!(refused.contains("a dedup-strategy is asked once for all sources"), "{refused}");
    for source in ["one", "two"] {
        assert!(refused.contains(&format!("[for-source.{source}.plugin.dedup-lexical] cannot be used")), "{refused}");
    }
    // A command that asks the strategies alone refuses what a run refuses.
    let refused = playground.netquarry(&["dedup", "run", "one"]).ended(2).stderr;
    assert!(refused.contains("[for-source.one.plugin.dedup-lexical] cannot be used"), "{refused}");
}

#[test]
fn options_of_an_emitter_can_be_of_one_source() {
    let playground = Playground::new();
    let block = "import torch.nn as nn\n\n\nclass Same(nn.Module):\n    def forward(self, x):\n        return x\n";
    for source in ["one", "two"] {
        playground.write(&format!("{source}/{source}/__init__.py"), block);
    }
    let local = |name: &str| json!({"name": name, "location": {"local": {"path": name}}});
    playground.write("corpus.json", &json!({"name": "both", "sources": [local("one"), local("two")]}).to_string());
    playground.write(
        "netquarry.toml",
        "[plugins]\ndedup = []\nemit = [\"emit-lemur\"]\n[for-source.two.plugin.emit-lemur]\nminimum_level = 6\n",
    );
    playground.mine(&["run"]).succeeded();
    let index: serde_json::Value =
        serde_json::from_str(&playground.read("out/specs/emit-lemur/index.json")).expect("an index is JSON");
    assert_eq!(index["models"][0]["id"], "one:one.Same");
    assert_eq!(
        (&index["refused"][0]["id"], &index["refused"][0]["reason"]),
        (&json!("two:two.Same"), &json!("below_level"))
    );
}

#[test]
fn a_plugin_stands_once_in_its_list() {
    let playground = Playground::new();
    playground.write("netquarry.toml", "[plugins]\nshims = [\"shim-timm\", \"shim-timm\"]\n");
    for command in [&["config", "check"] as &[&str], &["discover"]] {
        let told = playground.netquarry(command).stderr;
        assert!(told.contains("Two plugins of one kind are called `shim-timm`"), "{told}");
    }
    playground.write("netquarry.toml", "[plugins]\nshims = [\"...\", \"...\"]\n");
    playground.netquarry(&["config", "check"]).succeeded();
}
