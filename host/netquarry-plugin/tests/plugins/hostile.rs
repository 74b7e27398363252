//! Components that trap, loop, flood, lie and break out, each a file in `tests/hostile/`: each costs the item that it was
//! about, the error says all, and nothing else is lost.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use netquarry_core::dynamic::{CodeIndex, DefinitionSummary, DynamicAnswer, DynamicQuestion};
use netquarry_plugin::{
    CallError, CallFailure, ConfigureError, HostOptions, Kind, Limits, NoFiles, PerBlock, Plugin, PluginHost, Refusal,
    SourceFiles,
};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::guest::Guest;
use crate::support::{blocks, emitted, module_class, record};

/// A file of `tests/hostile/`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    guest: Guest,
    /// What it is asked about, by name.
    #[serde(default = "usual_items")]
    items: Vec<String>,
    #[serde(default)]
    limits: FewLimits,
    /// What has to come of it, for each kind of plugin that it is tried as.
    expected: BTreeMap<Kind, Outcome>,
}

fn usual_items() -> Vec<String> {
    ["Alpha", "Bad", "Gamma"].map(str::to_owned).to_vec()
}

/// Limits that a test reaches soon.
#[derive(Clone, Copy, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct FewLimits {
    fuel: u64,
    memory: usize,
    transfer: usize,
    milliseconds: u64,
}

impl Default for FewLimits {
    fn default() -> Self {
        Self { fuel: 10_000_000, memory: 16 << 20, transfer: 1 << 20, milliseconds: 60_000 }
    }
}

/// Errors in full, with `<digest>` in the place of the component's digest.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Outcome {
    /// Why the component is no plugin.
    #[serde(skip_serializing_if = "Option::is_none")]
    load: Option<String>,
    /// What to do about that.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    /// Why the plugin cannot be used as configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    configure: Option<String>,
    /// One for each call that failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failures: Vec<String>,
    /// The items that were worked on all the same, with the index of an emitter.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    done: Vec<String>,
}

fn host(limits: FewLimits) -> PluginHost {
    let FewLimits { fuel, memory, transfer, milliseconds } = limits;
    let deadline = Duration::from_millis(milliseconds);
    let limits = Limits { fuel, memory, transfer, deadline, per_block: PerBlock::default() };
    let compiled_cache = Some(Path::new(env!("CARGO_TARGET_TMPDIR")).join("plugins"));
    PluginHost::new(HostOptions { compiled_cache, limits: Some(limits), ..HostOptions::default() })
        .expect("this machine can run plugins")
}

#[test]
fn each_costs_its_own_item_and_says_why() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile");
    let files = case_files(&folder);
    assert!(!files.is_empty());
    let wrong: Vec<String> = files.par_iter().flat_map(|file| check(file, &folder)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn case_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("it can be read").path();
        if path.is_dir() {
            files.extend(case_files(&path));
        } else {
            assert!(path.extension().is_some_and(|ending| ending == "toml"), "{} is no case", path.display());
            files.push(path);
        }
    }
    files.sort();
    files
}

/// What is wrong with the outcome of a case.
fn check(file: &Path, folder: &Path) -> Vec<String> {
    let name = file.strip_prefix(folder).expect("it lies below").display();
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{name}: {error}"));
    let case: Case = toml::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(!case.expected.is_empty(), "{name} is tried as no kind");
    let host = host(case.limits);
    let differs = |(kind, expected): (&Kind, &Outcome)| {
        let found = tried(&host, *kind, &case.guest, &case.items);
        // Whatever it did, the same host goes on with others.
        let next = tried(&host, *kind, &Guest::default(), &usual_items());
        assert_eq!(next, Outcome { done: all(*kind, usual_items()), ..Outcome::default() }, "{name}, {kind}");
        let shown = |outcome| toml::to_string(outcome).expect("it is made of texts");
        (found != *expected)
            .then(|| format!("--- {name}\n[expected.{kind}]\n{}--- and not\n{}", shown(&found), shown(expected)))
    };
    case.expected.iter().filter_map(differs).collect()
}

/// What is done where all goes well.
fn all(kind: Kind, items: Vec<String>) -> Vec<String> {
    let index = (kind == Kind::SpecEmitter).then(|| "index.txt".to_owned());
    items.into_iter().chain(index).collect()
}

/// Loads the component and has it do everything that a plugin of its kind may be asked for.
fn tried(host: &PluginHost, kind: Kind, guest: &Guest, items: &[String]) -> Outcome {
    let component = guest.built(kind);
    let digest: String = Sha256::digest(&component).iter().map(|byte| format!("{byte:02x}")).collect();
    let told = |error: &dyn std::error::Error| error.to_string().replace(&digest, "<digest>");
    let plugin = match host.load(&component) {
        Ok(plugin) => plugin,
        Err(error) => {
            return Outcome { load: Some(told(&error)), hint: Some(error.hint().to_owned()), ..Outcome::default() };
        }
    };
    let mut failures: Vec<CallError> = plugin.examples().err().into_iter().collect();
    let worked = match kind {
        Kind::DiscoveryRule => discover(&plugin, items),
        Kind::RepoShim => answer(&plugin, items),
        Kind::DedupStrategy => deduplicate(&plugin, items),
        Kind::SpecEmitter => emit(&plugin, items),
    };
    let (done, configure) = match worked {
        Ok((done, further)) => {
            failures.extend(further);
            (done, None)
        }
        Err(error) => (Vec::new(), Some(told(&error))),
    };
    Outcome { configure, failures: failures.iter().map(|error| told(error)).collect(), done, ..Outcome::default() }
}

/// The items that were done, and the failures.
type Worked = Result<(Vec<String>, Vec<CallError>), ConfigureError>;

/// All of the classes at once.
fn discover(plugin: &Plugin, items: &[String]) -> Worked {
    let rule = plugin.discovery_rule(&json!({}))?;
    let classes: Vec<_> = items.iter().map(|name| module_class(name)).collect();
    let discovery = rule.discover(&classes);
    let done = discovery.proposals.into_iter().map(|proposal| classes[proposal.index].name.clone()).collect();
    Ok((done, discovery.failures))
}

/// An index in which every name is the path of a definition.
struct Whole;

impl CodeIndex for Whole {
    fn find(&self, _: &str) -> Option<DefinitionSummary> {
        None
    }

    fn source(&self, path: &str) -> Option<String> {
        Some(format!("{path} = None\n"))
    }

    fn references(&self, _: &str) -> Vec<String> {
        Vec::new()
    }

    fn registered(&self, _: &str, _: &str) -> Vec<String> {
        Vec::new()
    }
}

/// Its tables, and one name after the other.
fn answer(plugin: &Plugin, items: &[String]) -> Worked {
    let shim = plugin.repo_shim(&json!({}))?;
    let mut failures: Vec<CallError> = shim.tables().err().into_iter().collect();
    let mut done = Vec::new();
    let index: Arc<dyn CodeIndex> = Arc::new(Whole);
    let files: Arc<dyn SourceFiles> = Arc::new(NoFiles);
    for name in items {
        let question = DynamicQuestion {
            name: name.clone(),
            referrer: "package.module.build".to_owned(),
            expression: format!("{name}(\"a key\")"),
            literals: vec!["a key".to_owned()],
        };
        match shim.answer(&question, &index, &files) {
            Ok(answer) => {
                assert_eq!(answer, DynamicAnswer::Unknown { why: "A test.".to_owned() });
                done.push(name.clone());
            }
            Err(error) => failures.push(error),
        }
    }
    Ok((done, failures))
}

/// One set after the other: of three blocks where the name begins with B, of two otherwise.
fn deduplicate(plugin: &Plugin, items: &[String]) -> Worked {
    let strategy = plugin.dedup_strategy(&json!({}))?;
    let (mut done, mut failures) = (Vec::new(), Vec::new());
    for name in items {
        let count = if name.starts_with('B') { 3 } else { 2 };
        match strategy.run(&blocks(count)) {
            Ok(decisions) => {
                let removed: Vec<u32> = decisions.removals.iter().map(|removal| removal.block).collect();
                assert_eq!(removed, [count - 1]);
                done.push(name.clone());
            }
            Err(error) => failures.push(error),
        }
    }
    Ok((done, failures))
}

/// One block after the other, and the index. What is done are the files.
fn emit(plugin: &Plugin, items: &[String]) -> Worked {
    let emitter = plugin.spec_emitter(&json!({}))?;
    let records: Vec<_> = items.iter().map(|name| record(name)).collect();
    let (files, failures) = emitted(&emitter, &records.iter().collect::<Vec<_>>());
    Ok((files.into_iter().map(|file| file.path).collect(), failures))
}

/// The plugin of a rule that has this body for the classes whose names begin with B.
fn rule_with(body: &str) -> Plugin {
    host(FewLimits::default()).load(&Guest::at_items(body).built(Kind::DiscoveryRule)).expect("the component loads")
}

#[test]
fn the_classes_at_fault_are_found_and_the_others_are_judged() {
    let rule = rule_with("unreachable").discovery_rule(&json!({})).expect("it accepts everything");
    let classes: Vec<_> = ["Alpha", "Beta", "Gamma", "Delta", "Bad"].map(module_class).into();
    let discovery = rule.discover(&classes);
    let proposed: Vec<&str> = discovery.proposals.iter().map(|proposal| proposal.qualified_name.as_str()).collect();
    assert_eq!(proposed, ["package.module.Alpha", "package.module.Gamma", "package.module.Delta"]);
    let failed: Vec<&str> = discovery.failures.iter().map(|failure| failure.item.as_str()).collect();
    assert_eq!(failed, ["test:package.module.Beta", "test:package.module.Bad"]);
}

#[test]
fn a_rule_that_always_fails_is_given_up_on() {
    let rule = rule_with("unreachable").discovery_rule(&json!({})).expect("it accepts everything");
    let classes: Vec<_> = (0..200).map(|number| module_class(&format!("Bad{number}"))).collect();
    let discovery = rule.discover(&classes);
    assert!(discovery.proposals.is_empty());
    assert!(discovery.failures.len() < 20, "{}", discovery.failures.len());
}

#[test]
fn nothing_is_remembered_from_call_to_call() {
    let body = "(if (global.get $called) (then unreachable)) (global.set $called (i32.const 1)) (i32.const 3000)";
    let module = "(global $called (mut i32) (i32.const 0))".to_owned();
    let guest = Guest { module, ..Guest::at_items(body) };
    let plugin = host(FewLimits::default()).load(&guest.built(Kind::DiscoveryRule)).expect("the component loads");
    let rule = plugin.discovery_rule(&json!({})).expect("it accepts everything");
    for _ in 0..3 {
        assert!(rule.discover(&[module_class("Bad")]).failures.is_empty());
    }
}

#[test]
fn a_long_message_is_cut() {
    let body = "(memory.fill (i32.const 98304) (i32.const 97) (i32.const 32768))
        (call $log (i32.const 3) (i32.const 98304) (i32.const 32768)) unreachable";
    let rule = rule_with(body).discovery_rule(&json!({})).expect("it accepts everything");
    let discovery = rule.discover(&[module_class("Bad")]);
    assert_eq!(discovery.failures[0].log[0].text.len(), 4096);
}

#[test]
fn a_plugin_of_another_kind_is_told() {
    let plugin = host(FewLimits::default()).load(&Guest::default().built(Kind::SpecEmitter)).expect("it loads");
    let error = plugin.repo_shim(&json!({})).err().expect("it is an emitter").to_string();
    let plugin = plugin.identity();
    assert_eq!(error, format!("plugin {plugin} is a spec-emitter, and a repo-shim is wanted here"));
}

/// For programs; `tests/hostile/` has the texts.
#[test]
fn why_a_plugin_refuses_is_told_apart() {
    for (case, why) in [(0, Refusal::Input), (1, Refusal::Unsupported), (2, Refusal::Host), (3, Refusal::Other)] {
        let refusal = format!(
            "(i32.store (i32.const 2048) (i32.const 1))
            (i32.store (i32.const 2052) (i32.const {case}))
            (i32.store (i32.const 2056) (i32.const 200))
            (i32.store (i32.const 2060) (i32.const 7))
            (i32.const 2048)"
        );
        let rule = rule_with(&refusal).discovery_rule(&json!({})).expect("it accepts everything");
        let failure = rule.discover(&[module_class("Bad")]).failures.remove(0).failure;
        assert_eq!(failure, CallFailure::Refused { why, message: "A test.".to_owned() });
    }
}
