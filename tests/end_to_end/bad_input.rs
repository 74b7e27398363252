//! Bad input: each case of `cases/bad_input.md` gets one clear message, the right exit status, and loses nothing.
//!
//! A section is a case: fenced blocks whose info string names a file are that file, and the one of `console` is the
//! command, without the prompt. What is said and the status are a snapshot.

use std::fs;
use std::path::Path;

use super::library::made;
use super::support::{Playground, Run, tree};

struct Case {
    name: String,
    files: Vec<(String, String)>,
    command: String,
}

fn cases(text: &str) -> Vec<Case> {
    let mut cases = Vec::new();
    for section in text.split("\n## ").skip(1) {
        let (name, rest) = section.split_once('\n').expect("a heading ends its line");
        let mut case = Case { name: name.to_owned(), files: Vec::new(), command: String::new() };
        for block in rest.split("```").skip(1).step_by(2) {
            let (info, body) = block.split_once('\n').expect("a fence ends its line");
            match info.split_whitespace().nth(1) {
                Some(path) => case.files.push((path.to_owned(), body.to_owned())),
                None => body.trim_start_matches("$ netquarry ").trim_end().clone_into(&mut case.command),
            }
        }
        cases.push(case);
    }
    cases
}

#[test]
fn each_gets_one_clear_message() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/end_to_end/cases/bad_input.md");
    let cases = cases(&fs::read_to_string(path).unwrap());
    assert!(cases.len() > 10);
    for case in cases {
        let playground = Playground::new();
        for (path, text) in &case.files {
            playground.write(path, text);
        }
        let arguments: Vec<&str> = case.command.split_whitespace().collect();
        let mut command = playground.command(&arguments);
        // Nothing on this machine counts but what a case brings along.
        command.env("PATH", "/nonexistent").env_remove("VIRTUAL_ENV");
        let run = Run::of(&mut command);
        let stderr = playground.seen_from_here(&run.stderr);
        let shown = format!("$ netquarry {}\n{}{stderr}status {}", case.command, run.stdout, run.status);
        insta::assert_snapshot!(case.name.replace(' ', "_"), shown);
        assert_eq!(run.status, 2, "{}", case.name);
        assert!(!playground.path("out").exists(), "{}: not even an empty folder is made", case.name);
    }
}

#[test]
fn a_source_that_is_missing_costs_itself_only() {
    let playground = Playground::new();
    playground.write(
        "corpus.json",
        r#"{"name": "two", "sources": [
            {"name": "small", "location": {"local": {"path": "package"}}},
            {"name": "gone", "location": {"git": {"url": "file:///nonexistent/repository"}}}]}"#,
    );
    let run = playground.mine(&["run", "--format", "json"]).ended(2);
    assert_eq!(run.json()["missing_sources"][0]["name"], "gone");
    assert_eq!(run.json()["findings"]["total"]["candidates"], 8);
    assert!(run.stderr.contains("Cannot fetch the source `gone`"), "{}", run.stderr);
    assert!(playground.path("out/blocks/Scale.py").is_file());
}

#[test]
fn a_folder_that_is_not_ours_is_left_as_it_was() {
    let playground = Playground::new();
    playground.write("out/thesis.tex", "years of work");
    let run = playground.mine(&["run"]).ended(2);
    assert!(run.stderr.contains("--out"), "{}", run.stderr);
    assert_eq!(tree(&playground.path("out")).len(), 1);
}

#[test]
fn a_damaged_index_is_named_and_can_be_made_anew() {
    let playground = Playground::new();
    playground.mine(&["index", "--quiet"]).succeeded();
    for suffix in ["-wal", "-shm"] {
        let _ = fs::remove_file(playground.path(&format!("cache/index.sqlite{suffix}")));
    }
    playground.write("cache/index.sqlite", &"no database at all ".repeat(1000));
    let run = playground.mine(&["index"]).ended(2);
    assert!(run.stderr.contains("cache/index.sqlite") && run.stderr.contains("--rebuild-index"), "{}", run.stderr);
    playground.mine(&["index", "--rebuild-index", "--quiet"]).succeeded();
}

#[test]
fn a_plugin_that_is_none_is_refused() {
    let playground = made();
    playground.write("not-a-plugin.wasm", "this is no component");
    let run = playground.mine(&["discover", "--discover", "not-a-plugin.wasm"]).ended(2);
    assert!(run.stderr.contains("help:"), "{}", run.stderr);
}
