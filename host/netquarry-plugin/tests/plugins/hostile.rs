//! Components that trap, loop, flood, lie and break out: each costs the item that it was about, and the error says all.

use std::time::Duration;

use netquarry_plugin::api_version::{self, ApiVersion};
use netquarry_plugin::{
    CallFailure, ConfigureError, Discovery, HostOptions, Limits, LoadError, PerBlock, PluginHost, Refusal,
};
use serde_json::json;

use crate::guest::Guest;
use crate::support::{emitted, host, module_class, record};

/// Limits that a test reaches soon.
const SMALL: Limits = Limits {
    fuel: 10_000_000,
    memory: 16 << 20,
    transfer: 1 << 20,
    deadline: Duration::from_secs(60),
    per_block: PerBlock { fuel: 0, memory: 0, deadline: Duration::ZERO },
};

fn host_with(limits: Limits) -> PluginHost {
    PluginHost::new(HostOptions { limits: Some(limits), ..HostOptions::default() })
        .expect("this machine can run plugins")
}

/// Asks a rule with this body about one class.
fn discover(body: &str, limits: Limits) -> Discovery {
    let component = Guest::discovery_rule(body).component();
    let plugin = host_with(limits).load(&component).expect("the component loads");
    let rule = plugin.discovery_rule(&json!({})).expect("it accepts everything");
    rule.discover(&[module_class("Victim")])
}

fn failure(body: &str, limits: Limits) -> CallFailure {
    let mut discovery = discover(body, limits);
    assert!(discovery.proposals.is_empty());
    discovery.failures.pop().expect("the call fails").failure
}

#[test]
fn a_trap_is_told_with_everything_that_helps() {
    let body = r#"
        (i32.store (i32.const 2048) (i32.const 0x6b6f6f6c))
        (call $log (i32.const 3) (i32.const 2048) (i32.const 4))
        unreachable"#;
    let component = Guest::discovery_rule(body).component();
    let plugin = host().load(&component).expect("the component loads");
    let digest = plugin.identity().digest.clone();
    let rule = plugin.discovery_rule(&json!({})).expect("it accepts everything");
    let discovery = rule.discover(&[module_class("Victim")]);
    let text = discovery.failures[0].to_string();
    assert_eq!(
        text,
        format!(
            "plugin hostile-rule 1.2.3 (sha256:{digest}) failed to discover test:package.module.Victim: it trapped: wasm \
             trap: wasm `unreachable` instruction executed\n  it logged: error: look"
        )
    );
}

#[test]
fn an_endless_loop_uses_up_its_fuel() {
    let endless = "(loop $again (br $again)) unreachable";
    assert_eq!(failure(endless, SMALL), CallFailure::Fuel { fuel: SMALL.fuel });
}

#[test]
fn the_watchdog_ends_what_fuel_does_not() {
    let limits = Limits { fuel: u64::MAX, deadline: Duration::from_millis(200), ..SMALL };
    let endless = "(loop $again (br $again)) unreachable";
    assert_eq!(failure(endless, limits), CallFailure::Deadline { deadline: limits.deadline });
}

#[test]
fn memory_is_capped() {
    let greedy = "(loop $again (drop (memory.grow (i32.const 16))) (br $again)) unreachable";
    assert!(matches!(failure(greedy, SMALL), CallFailure::Memory { wanted, limit: 16_777_216 } if wanted > 16 << 20));
}

#[test]
fn recursion_ends_with_a_trap() {
    let mut guest = Guest::discovery_rule("call $deeper unreachable");
    guest.module.push_str("(func $deeper call $deeper)");
    let plugin = host_with(SMALL).load(&guest.component()).expect("the component loads");
    let rule = plugin.discovery_rule(&json!({})).expect("it accepts everything");
    let discovery = rule.discover(&[module_class("Victim")]);
    assert!(matches!(&discovery.failures[0].failure, CallFailure::Trap { reason, .. } if reason.contains("stack")));
}

#[test]
fn a_huge_answer_is_not_taken() {
    // A result with a list at 2,064 of 3,500 proposals, all with the same reason of 32 KiB of zeros.
    let huge = r#"
        (i32.store (i32.const 2052) (i32.const 2064))
        (i32.store (i32.const 2056) (i32.const 3500))
        (loop $again
            (i32.store (i32.add (i32.const 2072) (i32.mul (local.get $i) (i32.const 16))) (i32.const 98304))
            (i32.store (i32.add (i32.const 2076) (i32.mul (local.get $i) (i32.const 16))) (i32.const 32768))
            (local.set $i (i32.add (local.get $i) (i32.const 1)))
            (br_if $again (i32.lt_u (local.get $i) (i32.const 3500))))
        i32.const 2048"#;
    assert_eq!(failure(huge, SMALL), CallFailure::Transfer { limit: SMALL.transfer });
}

#[test]
fn an_answer_outside_of_the_memory_is_a_trap() {
    let outside = r#"
        (i32.store (i32.const 2052) (i32.const 0x7fffffff))
        (i32.store (i32.const 2056) (i32.const 100))
        i32.const 2048"#;
    assert!(matches!(failure(outside, SMALL), CallFailure::Trap { .. }));
}

#[test]
fn a_flood_of_messages_ends_the_call() {
    let flood = "(loop $again (call $log (i32.const 0) (i32.const 0) (i32.const 4)) (br $again)) unreachable";
    assert_eq!(failure(flood, SMALL), CallFailure::Log { limit: 1000 });
}

#[test]
fn a_long_message_is_cut() {
    let long = r#"(call $log (i32.const 3) (i32.const 98304) (i32.const 32768)) unreachable"#;
    let discovery = discover(long, SMALL);
    assert_eq!(discovery.failures[0].log[0].text.len(), 4096);
}

#[test]
fn what_it_says_itself_is_passed_on() {
    for (case, why) in [(0, Refusal::Input), (1, Refusal::Unsupported), (2, Refusal::Host), (3, Refusal::Other)] {
        let refusal = format!(
            "(i32.store (i32.const 2048) (i32.const 1))
            (i32.store (i32.const 2052) (i32.const {case}))
            (i32.store (i32.const 2056) (i32.const 200))
            (i32.store (i32.const 2060) (i32.const 7))
            i32.const 2048"
        );
        let message = "A test.".to_owned();
        assert_eq!(failure(&refusal, SMALL), CallFailure::Refused { why, message });
    }
}

#[test]
fn a_proposal_of_a_class_that_was_not_given_is_not_acceptable() {
    // A list of one proposal with the number 7.
    let beyond = r#"
        (i32.store (i32.const 2052) (i32.const 2064))
        (i32.store (i32.const 2056) (i32.const 1))
        (i32.store (i32.const 2064) (i32.const 7))
        i32.const 2048"#;
    assert!(matches!(failure(beyond, SMALL), CallFailure::Answer(reason) if reason.contains("beyond the 1 given")));
}

/// Fails for more than one class and for names that begin with B; proposes the others.
const AFRAID_OF_B: &str = r#"
    (if (i32.ne (local.get $count) (i32.const 1)) (then unreachable))
    (if (i32.eq (i32.load8_u (i32.load (local.get $classes))) (i32.const 66)) (then unreachable))
    (i32.store (i32.const 2052) (i32.const 2064))
    (i32.store (i32.const 2056) (i32.const 1))
    i32.const 2048"#;

#[test]
fn the_class_at_fault_is_found_and_the_others_are_judged() {
    let component = Guest::discovery_rule(AFRAID_OF_B).component();
    let plugin = host_with(SMALL).load(&component).expect("the component loads");
    let rule = plugin.discovery_rule(&json!({})).expect("it accepts everything");
    let classes: Vec<_> = ["Alpha", "Beta", "Gamma", "Delta", "Bad"].map(module_class).into();
    let discovery = rule.discover(&classes);
    let proposed: Vec<&str> = discovery.proposals.iter().map(|proposal| proposal.qualified_name.as_str()).collect();
    assert_eq!(proposed, ["package.module.Alpha", "package.module.Gamma", "package.module.Delta"]);
    let failed: Vec<&str> = discovery.failures.iter().map(|failure| failure.item.as_str()).collect();
    assert_eq!(failed, ["test:package.module.Beta", "test:package.module.Bad"]);
}

#[test]
fn a_rule_that_always_fails_is_given_up_on() {
    let component = Guest::discovery_rule("unreachable").component();
    let plugin = host_with(SMALL).load(&component).expect("the component loads");
    let rule = plugin.discovery_rule(&json!({})).expect("it accepts everything");
    let classes: Vec<_> = (0..200).map(|number| module_class(&format!("Class{number}"))).collect();
    let discovery = rule.discover(&classes);
    assert!(discovery.proposals.is_empty());
    assert!(discovery.failures.len() < 20, "{}", discovery.failures.len());
}

#[test]
fn nothing_is_remembered_from_call_to_call() {
    let mut guest = Guest::discovery_rule(
        "(if (global.get $called) (then unreachable)) (global.set $called (i32.const 1)) i32.const 3000",
    );
    guest.module.push_str("(global $called (mut i32) (i32.const 0))");
    let plugin = host_with(SMALL).load(&guest.component()).expect("the component loads");
    let rule = plugin.discovery_rule(&json!({})).expect("it accepts everything");
    for _ in 0..3 {
        assert!(rule.discover(&[module_class("Class")]).failures.is_empty());
    }
}

#[test]
fn a_configuration_that_is_not_accepted_is_shown_where() {
    // An error with the pointer at 200 and the message at 0.
    let mut guest = Guest::discovery_rule("unreachable");
    guest.configure = r#"
        (i32.store (i32.const 2048) (i32.const 1))
        (i32.store (i32.const 2052) (i32.const 200))
        (i32.store (i32.const 2056) (i32.const 7))
        (i32.store (i32.const 2060) (i32.const 0))
        (i32.store (i32.const 2064) (i32.const 7))
        i32.const 2048"#;
    let plugin = host().load(&guest.component()).expect("the component loads");
    match plugin.discovery_rule(&json!({})) {
        Err(ConfigureError::Refused { pointer, message, .. }) => {
            assert_eq!((pointer.as_str(), message.as_str()), ("A test.", "hostile"));
        }
        other => panic!("{:?}", other.err()),
    }
    assert!(matches!(plugin.repo_shim(&json!({})), Err(ConfigureError::Kind { .. })));
}

fn load_error(component: &[u8]) -> String {
    match host().load(component) {
        Ok(_) => panic!("the component loads"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn the_version_is_read_before_anything_else() {
    let guest = Guest::discovery_rule("unreachable");
    let unstamped = guest.unstamped("");
    assert!(load_error(&unstamped).contains("it has no custom section `netquarry-plugin-api`"));

    let mut newer = unstamped.clone();
    api_version::stamp(&mut newer, ApiVersion { major: 0, minor: 9, patch: 0 });
    assert!(
        load_error(&newer)
            .contains("was written against version 0.9.0 of netquarry:plugin, and this host speaks 0.1.0")
    );

    let mut damaged = b"\0asm\x0d\0\x01\0".to_vec();
    api_version::stamp(&mut damaged, ApiVersion::CURRENT);
    damaged.extend([10, 2, 0xff, 0xff]);
    assert!(load_error(&damaged).contains("does not compile"), "{}", load_error(&damaged));
    assert!(load_error(b"\0asm\x01\0\0\0").contains("it is not a WebAssembly component"));
}

#[test]
fn a_missing_export_is_named() {
    let guest = Guest { world: "base", module: String::new(), ..Guest::discovery_rule("") };
    let error = load_error(&guest.component());
    assert!(error.contains("does not fit the world discovery-rule") && error.contains("discover"), "{error}");
}

#[test]
fn an_import_beyond_the_world_is_refused() {
    let document = r#"
        package test:guest;
        interface sockets { connect: func(); }
        world guest {
            include netquarry:plugin/discovery-rule@0.1.0;
            import sockets;
        }"#;
    let imports = r#"(import "test:guest/sockets" "connect" (func $connect))"#;
    let guest = Guest { imports, ..Guest::discovery_rule("call $connect unreachable") };
    let mut component = guest.unstamped(document);
    api_version::stamp(&mut component, ApiVersion::CURRENT);
    let error = load_error(&component);
    assert!(error.contains("test:guest/sockets"), "{error}");
}

#[test]
fn a_description_that_is_none_is_refused() {
    let guest = Guest { name: "No Name", ..Guest::discovery_rule("unreachable") };
    assert!(matches!(host().load(&guest.component()), Err(LoadError::Description { .. })));
}

#[test]
fn an_emitter_stays_inside_of_its_folder() {
    for path in ["../escaped", "/etc/escaped", "a/../../escaped", "con.txt", "C:\\\\escaped"] {
        let plugin = host().load(&Guest::emitter(path).component()).expect("the component loads");
        let emitter = plugin.spec_emitter(&json!({})).expect("it accepts everything");
        let (files, failures) = emitted(&emitter, &[&record("One")]);
        assert!(files.is_empty(), "{path}");
        assert!(matches!(&failures[0].failure, CallFailure::Answer(_)), "{path}");
        assert_eq!(failures[0].item, "test:package.module.One");
    }
}

#[test]
fn two_blocks_do_not_share_a_file() {
    let plugin = host().load(&Guest::emitter("spec.json").component()).expect("the component loads");
    let emitter = plugin.spec_emitter(&json!({})).expect("it accepts everything");
    let (files, failures) = emitted(&emitter, &[&record("One"), &record("Two")]);
    assert_eq!(files.len(), 1);
    assert_eq!(failures.len(), 1);
    assert!(failures[0].to_string().contains("\"spec.json\" is there already"), "{}", failures[0]);
}
