//! Plugins that misbehave, in a run as a user would make it: each costs what it was asked about, is told of once, and the
//! rest of the library is there.

use std::fs;

use netquarry_plugin::Kind;
use serde_json::json;

use super::guest::Guest;
use super::support::{Playground, Run, python, without_digests};

/// Four classes, of which two are the same but for their names, and one asks a function that only a shim could know.
const PARTS: &str = "\
import torch.nn as nn

PARTS = {}


def choose(name):
    return PARTS[name]


class Alpha(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, x):
        return self.layer(x)


class Bad(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Conv2d(3, 8, 3)

    def forward(self, x):
        return self.layer(x).relu()


class Copy(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, x):
        return self.layer(x)


class Delta(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = choose(\"part\")()

    def forward(self, x):
        return self.part(x)
";

fn write(playground: &Playground, kind: Kind, name: &str, guest: Guest) {
    let guest = Guest { name: Some(name.to_owned()), ..guest };
    fs::write(playground.path(&format!("{name}.wasm")), guest.built(kind)).unwrap();
}

fn run(playground: &Playground, further: &[&str]) -> Run {
    let python = python().to_str().expect("a path of ours is UTF-8");
    playground.netquarry(&[&["run", "--corpus", "basics.json", "--python", python], further].concat())
}

fn repository(playground: &Playground) {
    playground.write("repository/Basics/__init__.py", "");
    playground.write("repository/Basics/parts.py", PARTS);
    let sources = json!([{"name": "basics", "location": {"local": {"path": "repository"}}}]);
    playground.write("basics.json", &json!({"name": "basics", "sources": sources}).to_string());
}

/// The warnings and errors among what a run says.
fn problems(run: &Run) -> String {
    const MARKS: [&str; 6] = ["  ×", "  ├", "  │", "  ╰", "  help:", " WARN"];
    let shown: Vec<&str> = run.stderr.lines().filter(|line| MARKS.iter().any(|mark| line.starts_with(mark))).collect();
    without_digests(&shown.join("\n"))
}

#[test]
fn a_run_goes_on_without_what_hostile_plugins_break() {
    let playground = Playground::new();
    repository(&playground);
    write(&playground, Kind::DiscoveryRule, "hostile-rule", Guest::at_items("unreachable"));
    // The name about which it is asked, at 5,000, is the only one that its tables mark as dynamic.
    let shim = Guest {
        module: "(data (i32.const 5000) \"Basics.parts.choose\")".to_owned(),
        tables: Some(
            "(i32.store (i32.const 2132) (i32.const 2208)) (i32.store (i32.const 2136) (i32.const 1))
             (i32.store (i32.const 2208) (i32.const 5000)) (i32.store (i32.const 2212) (i32.const 19))
             (i32.const 2048)"
                .to_owned(),
        ),
        ..Guest::at_items("(loop $again (br $again)) unreachable")
    };
    write(&playground, Kind::RepoShim, "hostile-shim", shim);
    // Of three blocks it removes one for the sake of the block 9.
    let strategy = "(call $drop (local.get $set))
        (i32.store (i32.const 2116) (i32.const 9))
        (i32.store (i32.const 2052) (i32.const 2112))
        (i32.store (i32.const 2056) (i32.const 1))
        (i32.const 2048)";
    write(&playground, Kind::DedupStrategy, "hostile-strategy", Guest::at_items(strategy));
    let emitter = Guest {
        module: "(data (i32.const 5000) \"../../escaped\")".to_owned(),
        ..Guest::at_items("(call $file (i32.const 5000) (i32.const 13))")
    };
    write(&playground, Kind::SpecEmitter, "hostile-emitter", emitter);
    playground.write(
        "netquarry.toml",
        "[plugins]\ndiscover = [\"hostile-rule.wasm\", \"discover-nn-module\"]\nshims = [\"hostile-shim.wasm\"]\n\
         dedup = [\"dedup-canonical\", \"hostile-strategy.wasm\"]\nemit = [\"hostile-emitter.wasm\", \"emit-neutral-spec\"]\n",
    );
    let run = run(&playground, &[]).ended(2);
    insta::assert_snapshot!(problems(&run));
    assert!(run.stdout.contains("The plugin hostile-emitter 1.2.3 failed in 1 of 4 calls (emit)"), "{}", run.stdout);
    // A second run that finds all of it there has not become whole by that, however quiet it is.
    let again = self::run(&playground, &["--quiet"]).ended(2);
    assert!(again.stderr.contains("hostile-emitter 1.2.3 failed in 1 of 4 calls (emit)"), "{}", again.stderr);
    assert_eq!(again.stdout, "");
    let reported = playground.netquarry(&["report", "failures", "--format", "json"]).succeeded().json();
    assert_eq!(reported["failed_calls"].as_array().map(Vec::len), Some(4), "{reported}");

    let manifest = playground.manifest("out");
    let decided = |name: &str| {
        let record = &manifest[&format!("basics:Basics.parts.{name}")];
        let removed = record["dedup"]["decision"].as_str().expect("it was decided").to_owned();
        (record["discovered_by"].as_str().expect("a rule took it").to_owned(), removed)
    };
    let expected = |rule: &str, decision: &str| (rule.to_owned(), decision.to_owned());
    let nn_module = manifest["basics:Basics.parts.Bad"]["discovered_by"].as_str().expect("a rule took it");
    assert!(nn_module.starts_with("discover-nn-module "), "{nn_module}");
    assert_eq!(decided("Alpha"), expected("hostile-rule 1.2.3: A test.", "removed"));
    assert_eq!(decided("Bad"), expected(nn_module, "kept"));
    assert_eq!(decided("Copy"), expected("hostile-rule 1.2.3: A test.", "kept"));
    assert_eq!(decided("Delta"), expected("hostile-rule 1.2.3: A test.", "kept"));
    let unresolved = manifest["basics:Basics.parts.Delta"]["unresolved"].to_string();
    assert!(unresolved.contains("choose"), "{unresolved}");
    for file in ["blocks/Copy.py", "blocks/Bad.py", "blocks/Delta.py", "specs/emit-neutral-spec/index.json"] {
        assert!(playground.path(&format!("out/{file}")).is_file(), "{file}");
    }
    let folder = playground.path("out/specs/hostile-emitter");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    files.sort();
    assert_eq!(files, ["Copy", "Delta", "index.txt"]);
    assert!(!playground.path("out/escaped").exists() && !playground.path("escaped").exists());
}

#[test]
fn a_component_that_is_no_plugin_is_told_by_its_file() {
    let playground = Playground::new();
    repository(&playground);
    write(&playground, Kind::SpecEmitter, "newer", Guest { api: Some(vec!["9.9.9".to_owned()]), ..Guest::default() });
    playground.write("netquarry.toml", "[plugins]\nemit = [\"newer.wasm\"]\n");
    let run = run(&playground, &[]).ended(2);
    insta::assert_snapshot!(playground.seen_from_here(&run.stderr));
}
