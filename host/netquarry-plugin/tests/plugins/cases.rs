//! Cases through real components: the examples that first-party plugins carry, and what no author thinks of.

use std::fs;

use netquarry_plugin::cases::{Case, GoldenPack, differences, hostile};
use netquarry_plugin::{CallFailure, Kind, first_party};
use serde_json::{Value, json};

use crate::guest::Guest;
use crate::support::{embedded, host};

fn case(input: Value) -> Case {
    Case { input, ..Case::default() }
}

/// Where `NETQUARRY_BLESS` is set, what comes out is written down as what is expected; the next build has it.
#[test]
fn every_example_gives_what_it_says() {
    let host = host();
    for component in first_party() {
        let plugin = host.load(component.bytes).expect("a first-party component loads");
        let examples = plugin.examples().expect("it shows them");
        assert!(!examples.is_empty(), "{} has no example", component.name);
        for example in examples {
            let case = Case::read(&example.document).unwrap_or_else(|error| panic!("{}: {error}", component.name));
            let run = case.run(&plugin).unwrap_or_else(|error| panic!("{}: {error}", component.name));
            if std::env::var_os("NETQUARRY_BLESS").is_some() {
                let file = format!("../../plugins/{}/examples/{}.json", component.name, example.name);
                let blessed = Case { output: run.output, ..case };
                fs::write(&file, blessed.text()).unwrap_or_else(|error| panic!("{file}: {error}"));
                continue;
            }
            let differences = differences(&case.output, &run.output);
            assert!(differences.is_empty(), "{} of {}: {differences:#?}", example.name, component.name);
        }
    }
}

#[test]
fn no_first_party_plugin_fails_at_hostile_inputs() {
    let host = host();
    for component in first_party() {
        let plugin = host.load(component.bytes).expect("a first-party component loads");
        for (name, case) in hostile(plugin.description().kind) {
            let run = case.run(&plugin).unwrap_or_else(|error| panic!("{name} of {}: {error}", component.name));
            for error in run.failures {
                assert!(matches!(error.failure, CallFailure::Refused { .. }), "{name} of {}: {error}", component.name);
            }
        }
    }
}

#[test]
fn a_failure_stands_in_the_output_and_says_nothing_of_the_build() {
    let plugin = host().load(&Guest::at_items("unreachable").built(Kind::DiscoveryRule)).expect("it loads");
    let files = json!({"files": {"package/module.py": "class Block: ...\n"}});
    let run = case(files).run(&plugin).expect("it can be run");
    assert_eq!(
        run.output,
        json!({
            "candidates": [],
            "failures": ["it failed to discover case:package.module.Block: it trapped: wasm `unreachable` instruction \
                          executed"],
        })
    );
    assert_eq!(run.failures.len(), 1);
}

#[test]
fn an_input_of_another_kind_is_told() {
    let plugin = embedded(&host(), "dedup-exact");
    let error = case(json!({"files": {}})).run(&plugin).expect_err("a strategy has blocks");
    assert_eq!(
        error.to_string(),
        "its input is none for a dedup-strategy: unknown field `files`, expected `blocks` (at files)"
    );
    let wrong = Case {
        configuration: json!({"treshold": 1}).as_object().cloned().unwrap_or_default(),
        ..case(json!({"blocks": []}))
    };
    assert!(wrong.run(&plugin).expect_err("it has no such option").to_string().contains("/treshold"));
}

#[test]
fn a_class_that_no_file_has_is_told() {
    let plugin = embedded(&host(), "shim-timm");
    let wanted = json!({"files": {"package/module.py": ""}, "blocks": ["package.module.Block"]});
    let error = case(wanted).run(&plugin).expect_err("there is no such class");
    assert!(
        error.to_string().ends_with("no file of the case defines a class `package.module.Block` (at blocks[0])"),
        "{error}"
    );
}

#[test]
fn a_pack_is_read_back_and_has_one_digest() {
    let plugin = embedded(&host(), "dedup-exact");
    let pack = GoldenPack::of(&plugin, [("no-block".to_owned(), case(json!({"blocks": []})))].into());
    let text = pack.text();
    let read = GoldenPack::read(&text).expect("it was written by us");
    assert_eq!((&read, read.digest()), (&pack, pack.digest()));
    let other = text.replace("\"format\": 1", "\"format\": 2");
    assert!(GoldenPack::read(&other).expect_err("the format is unknown").to_string().contains("format 2"));
}

#[test]
fn costs_are_told_by_plugin_work_and_source() {
    let host = host();
    let plugin = embedded(&host, "discover-nn-module");
    let files = json!({"files": {"package/module.py": "import torch.nn as nn\nclass Block(nn.Module): ...\n"}});
    case(files).run(&plugin).expect("it can be run");
    let entries = host.meter().entries();
    let discovering = entries.iter().find(|entry| entry.stage == "discover").expect("it was asked");
    assert_eq!((discovering.source.as_str(), discovering.cost.calls, discovering.cost.failed), ("case", 1, 0));
    assert!(discovering.cost.fuel > 0 && discovering.cost.peak_memory > 0);
}
