//! Calls that failed, kept and made again.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use netquarry_core::dedup::BlockSet;
use netquarry_plugin::kept::{CallOutcome, KeptCall, KeptError};
use netquarry_plugin::{CallError, FailureClass, HostOptions, Kind, Limits, PerBlock, Plugin, PluginHost};
use serde_json::json;
use tempfile::TempDir;

use crate::guest::Guest;
use crate::support::{blocks, module_class};

/// Reserves room for the code of a block at 2,112, asks for it and fails.
const ASKS_FOR_CODE: &str = "(call $code (local.get $set) (i32.const 1) (i32.const 2112)) unreachable";

/// A host that keeps the calls that fail, with limits that are reached soon.
struct Keeping {
    host: PluginHost,
    folder: TempDir,
}

impl Keeping {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("there is room");
        let limits = Limits {
            fuel: 10_000_000,
            memory: 16 << 20,
            transfer: 1 << 20,
            deadline: Duration::from_secs(60),
            per_block: PerBlock::default(),
        };
        let kept_calls = Some(folder.path().to_owned());
        let host = PluginHost::new(HostOptions { kept_calls, limits: Some(limits), ..HostOptions::default() });
        Self { host: host.expect("this machine can run plugins"), folder }
    }

    fn load(&self, guest: &Guest, kind: Kind) -> Plugin {
        self.host.load(&guest.built(kind)).expect("the component loads")
    }

    /// The folders of the calls that were kept.
    fn kept(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.folder.path()).expect("the folder is there");
        entries.map(|entry| entry.expect("it can be listed").path()).collect()
    }
}

/// A strategy that has this body for sets of three blocks, and may ask for their codes and their total.
fn strategy(body: &str) -> Guest {
    let imports = r#"(import "netquarry:plugin/blocks@0.1.0" "[method]block-set.code" (func $code (param i32 i32 i32)))
        (import "netquarry:plugin/blocks@0.1.0" "[method]block-set.total" (func $total (param i32) (result i32)))"#;
    Guest { imports: imports.to_owned(), ..Guest::at_items(body) }
}

/// The failure of a strategy at three blocks.
fn failed(plugin: &Plugin) -> CallError {
    let set: Arc<dyn BlockSet> = blocks(3);
    let strategy = plugin.dedup_strategy(&json!({})).expect("it accepts everything");
    strategy.run(&set).expect_err("it fails at three blocks")
}

/// The way in which a strategy with this body fails, which its call that is made again has to have too.
fn class_of(body: &str) -> FailureClass {
    let keeping = Keeping::new();
    let plugin = keeping.load(&strategy(body), Kind::DedupStrategy);
    let error = failed(&plugin);
    let folder = error.kept.as_deref().unwrap_or_else(|| panic!("{body}: the call is kept"));
    assert_eq!(keeping.kept(), [folder]);
    let call = KeptCall::read(folder).expect("it was kept");
    let component = fs::read(call.component(folder).expect("it is that of the call")).expect("it is there");
    let kept = keeping.host.load(&component).expect("it was loaded before");
    assert!(call.is_of(&kept));
    assert_eq!(call.replay(&kept).expect("it can be made again"), call.outcome, "{body}");
    assert_eq!(call.outcome.class(), Some(error.failure.class()), "{body}");
    error.failure.class()
}

#[test]
fn a_call_fails_as_it_did() {
    let refusal =
        "(call $release) (i32.store (i32.const 2048) (i32.const 1)) (i32.store (i32.const 2052) (i32.const 3))
        (i32.store (i32.const 2056) (i32.const 200)) (i32.store (i32.const 2060) (i32.const 7)) (i32.const 2048)";
    let no_such_block = "(call $release) (i32.store (i32.const 2052) (i32.const 2112))
        (i32.store (i32.const 2056) (i32.const 1)) (i32.store (i32.const 2112) (i32.const 7)) (i32.const 2048)";
    let beyond_memory = "(call $release) (i32.store (i32.const 2052) (i32.const 2112))
        (i32.store (i32.const 2056) (i32.const 1073741824)) (i32.const 2048)";
    let cases = [
        (refusal, FailureClass::Refused),
        (ASKS_FOR_CODE, FailureClass::Trap),
        ("(loop $again (br $again)) unreachable", FailureClass::OutOfFuel),
        ("(drop (memory.grow (i32.const 60000))) unreachable", FailureClass::OutOfMemory),
        (
            "(loop $again (call $log (i32.const 0) (i32.const 200) (i32.const 7)) (br $again)) unreachable",
            FailureClass::TooManyMessages,
        ),
        ("(call $code (local.get $set) (i32.const 3) (i32.const 2112)) unreachable", FailureClass::MisusedHost),
        (beyond_memory, FailureClass::MalformedValue),
        (no_such_block, FailureClass::MalformedResult),
    ];
    for (body, class) in cases {
        assert_eq!(class_of(body), class, "{body}");
    }
}

#[test]
fn another_component_may_do_better_or_ask_for_something_else() {
    let keeping = Keeping::new();
    let folder = failed(&keeping.load(&strategy(ASKS_FOR_CODE), Kind::DedupStrategy)).kept.expect("the call is kept");
    let call = KeptCall::read(&folder).expect("it was kept");
    let replayed = |body: &str| {
        let other = keeping.load(&strategy(body), Kind::DedupStrategy);
        assert!(!call.is_of(&other));
        call.replay(&other).expect("it can be made")
    };
    let answered =
        replayed("(call $code (local.get $set) (i32.const 1) (i32.const 2112)) (call $release) (i32.const 3000)");
    assert_eq!(answered, CallOutcome::Answered(json!({"removals": [], "restorations": []})));
    let CallOutcome::Failed { class, why, .. } = replayed("(drop (call $total (local.get $set))) unreachable") else {
        panic!("the kept call has no answer")
    };
    assert_eq!(class, FailureClass::Unanswered);
    assert_eq!(why, "it asks block-set.total about null, and the kept call has no answer to that");
    let rule = keeping.load(&Guest::default(), Kind::DiscoveryRule);
    let error = call.replay(&rule).expect_err("it is of another kind").to_string();
    assert_eq!(error, "the call is of a dedup-strategy, and the plugin is a discovery-rule");
}

#[test]
fn a_call_without_the_answers_of_the_host_cannot_be_made_again() {
    let keeping = Keeping::new();
    let plugin = keeping.load(&strategy(ASKS_FOR_CODE), Kind::DedupStrategy);
    let folder = failed(&plugin).kept.expect("the call is kept");
    let call = KeptCall { host_calls: None, ..KeptCall::read(&folder).expect("it was kept") };
    assert!(matches!(call.replay(&plugin), Err(KeptError::Unrecorded)));
}

#[test]
fn calls_that_are_made_again_cost_the_run_nothing() {
    let keeping = Keeping::new();
    let rule = keeping.load(&Guest::at_items("unreachable"), Kind::DiscoveryRule).discovery_rule(&json!({}));
    let discovery = rule.expect("it accepts everything").discover(&[module_class("Bad")]);
    assert!(discovery.failures[0].kept.is_some());
    let entries = keeping.host.meter().entries();
    let counted: Vec<_> = entries.iter().map(|entry| (entry.stage, entry.cost.calls, entry.cost.failed)).collect();
    assert_eq!(counted, [("describe", 1, 0), ("configure", 1, 0), ("discover", 1, 1)]);
}
