//! Which licences a library takes, and what it says about those that it has.

use serde_json::{Value, json};

use super::library::made;
use super::support::{Playground, Run};

/// A library of the small package, which is under the MIT licence.
fn ruled(playground: &Playground, lists: &str, arguments: &[&str]) -> Run {
    playground.write("netquarry.toml", &format!("[licenses]\n{lists}\n"));
    playground.mine(&[&["run", "--level", "compile"], arguments].concat())
}

fn blocks(playground: &Playground) -> usize {
    playground.manifest("out").values().filter(|record| is_in(record, "blocks/")).count()
}

fn is_in(record: &Value, folder: &str) -> bool {
    record["bundle"].as_str().is_some_and(|bundle| bundle.starts_with(folder))
}

#[test]
fn a_denied_licence_keeps_blocks_out_and_one_to_be_asked_about_makes_a_finding() {
    let playground = Playground::new();
    let denied = ruled(&playground, "deny = [\"MIT\"]", &[]).succeeded();
    assert_eq!(blocks(&playground), 0);
    let manifest = playground.manifest("out");
    let held = &manifest["small:small.layers.Scale"];
    assert_eq!(held["license_policy"], json!({"decision": "denied", "licenses": ["MIT"]}));
    assert!(is_in(held, "failed/"), "{held}");
    assert!(denied.stdout.contains("stay out of the library, denied by [licenses]: MIT"), "{}", denied.stdout);
    assert!(playground.read("out/report.html").contains("licence denied"));

    let asked = ruled(&playground, "ask = [\"MIT\"]", &[]).ended(1);
    assert_eq!(blocks(&playground), 0);
    assert!(asked.stdout.contains("allow = [\"MIT\"] under [licenses]"), "{}", asked.stdout);
    assert!(asked.stderr.contains("for your word about a licence: exit status 1"), "{}", asked.stderr);
    // An equal run finds the same.
    let again = ruled(&playground, "ask = [\"MIT\"]", &[]).ended(1);
    assert!(again.stdout.contains("Up to date."), "{}", again.stdout);

    ruled(&playground, "ask = [\"MIT\"]", &["--allow-license", "MIT"]).succeeded();
    assert!(blocks(&playground) > 0);
    assert_eq!(playground.manifest("out")["small:small.layers.Scale"]["license_policy"], Value::Null);
}

#[test]
fn what_is_not_listed_is_as_the_default_has_it() {
    let playground = Playground::new();
    ruled(&playground, "allow = [\"Apache-2.0\"]\ndefault = \"deny\"", &[]).succeeded();
    assert_eq!(blocks(&playground), 0);
    ruled(&playground, "allow = [\"MIT\"]\ndefault = \"deny\"", &[]).succeeded();
    assert!(blocks(&playground) > 0);
}

#[test]
fn a_record_alone_says_where_everything_is_from() {
    let manifest = made().manifest("out");
    let record = &manifest["small:small.layers.Scale"];
    let source = &record["sources"][0];
    assert_eq!((&source["name"], &source["license"]), (&json!("small"), &json!("MIT")));
    assert_eq!(source["license_files"], json!(["LICENSE"]));
    for definition in record["closure"].as_array().unwrap() {
        let (path, lines) = (definition["path"].as_str().unwrap(), &definition["lines"]);
        let swhid = definition["swhid"].as_str().unwrap();
        assert!(
            swhid.starts_with("swh:1:cnt:") && swhid.contains(&format!(";path=/{path};lines={}", lines[0])),
            "{swhid}"
        );
    }
    let notice = made().read("out/NOTICE");
    assert!(
        notice.contains("Text      LICENSE: licence text 1") && notice.contains("Permission is hereby"),
        "{notice}"
    );
}

#[test]
fn a_verdict_can_be_reached_again() {
    let lock = made().netquarry(&["env", "lock", "small.layers.Scale"]).succeeded().stdout;
    assert!(lock.starts_with("# What small:small.layers.Scale was validated with"), "{lock}");
    assert!(lock.lines().any(|line| line.starts_with("torch==")), "{lock}");
    let wrong = made().netquarry(&["env", "lock", "small.layers.Scaling"]).ended(2);
    assert!(wrong.stderr.contains("has no block"), "{}", wrong.stderr);
}
