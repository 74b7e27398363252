use netquarry_sdk::configured;
use netquarry_sdk::emit::{Category, Dependency, Failure, Outcome, Parameter, ParameterKind, Provenance, Tensor};

use super::*;

const CODE: &str = "lambda x: drop_path(x, 0.5)";

fn block() -> Block {
    let parameter = |name: &str, default: Option<&str>| Parameter {
        name: name.to_owned(),
        kind: ParameterKind::PositionalOrKeyword,
        annotation: Some("Optional[float]".to_owned()),
        default: default.map(str::to_owned),
    };
    let tensor = |name: &str| Tensor { name: name.to_owned(), shape: vec![2, 8], dtype: "float32".to_owned() };
    let dependency = Dependency {
        definition: "timm:timm.layers.drop.drop_path".to_owned(),
        needed_by: Some("timm:timm.layers.drop.DropPath".to_owned()),
        confidence: Some("direct_import".to_owned()),
        license: Some("Apache-2.0".to_owned()),
    };
    Block {
        id: "timm:timm.layers.drop.DropPath".to_owned(),
        name: "DropPath".to_owned(),
        category: Category::Utility,
        provenance: Provenance {
            source: "timm".to_owned(),
            kind: "pypi".to_owned(),
            version: Some("1.0.31".to_owned()),
            commit: None,
            file: "timm/layers/drop.py".to_owned(),
            first_line: 160,
            last_line: 181,
            sha1: "0".repeat(40),
            swhid: format!("swh:1:cnt:{}", "0".repeat(40)),
        },
        license: Some("Apache-2.0".to_owned()),
        bundle: Some("blocks/timm.layers.drop.DropPath.py".to_owned()),
        sha256: Some("1".repeat(64)),
        code: Some(CODE.to_owned()),
        requirements: vec!["torch".to_owned()],
        constructor_parameters: vec![parameter("drop_prob", Some("0.0")), parameter("scale", Some(CODE))],
        forward_parameters: vec![parameter("x", None)],
        constructor_arguments: vec![("drop_prob".to_owned(), "0.5".to_owned())],
        inputs: vec![tensor("x")],
        outputs: vec![tensor("0")],
        parameter_count: Some(0),
        closure: vec![dependency],
        level: 5,
        outcomes: vec![("parse".to_owned(), Outcome::Passed), ("backward".to_owned(), Outcome::NotApplicable)],
        failure: Some(Failure { class: "runtime_error".to_owned(), message: format!("in {CODE}") }),
        manifest_record: format!("{{\"edits\": [{{\"before\": \"{CODE}\"}}]}}"),
    }
}

fn emit(configuration: &str, block: &Block) -> Vec<File> {
    let emitter = configured::<NeutralSpec>(configuration).expect("the configuration is right");
    emitter.emit_block(block).expect("it has no reason to fail").files
}

#[test]
fn a_spec_says_what_the_block_takes_gives_and_needs() {
    let files = emit("{}", &block());
    assert_eq!(files.len(), 1);
    assert_eq!(files[0].path, "blocks/timm.layers.drop.DropPath.json");
    let spec: serde_json::Value = serde_json::from_slice(&files[0].content).expect("it is JSON");
    assert_eq!(spec["constructor"]["parameters"][0]["default"], "0.0");
    assert_eq!(spec["constructor"]["parameters"][1]["required"], false);
    assert_eq!(spec["forward"]["inputs"][0]["shape"], serde_json::json!([2, 8]));
    assert_eq!(spec["invariants"]["keeps_shape"], true);
    assert_eq!(spec["dependencies"]["definitions"][0]["needed_by"], "timm:timm.layers.drop.DropPath");
    assert_eq!(spec["validation"]["levels"]["backward"], "not_applicable");
    assert_eq!(spec["provenance"]["lines"], serde_json::json!([160, 181]));
}

#[test]
fn a_spec_carries_no_upstream_code() {
    for file in emit("{}", &block()) {
        let text = String::from_utf8(file.content).expect("it is text");
        assert!(!text.contains("lambda"), "{text}");
    }
}

#[test]
fn a_block_without_a_bundle_has_a_path_of_its_own() {
    let mut block = block();
    block.bundle = None;
    let upper = emit("{}", &block)[0].path.clone();
    block.id = block.id.to_lowercase();
    let lower = emit("{}", &block)[0].path.clone();
    assert_ne!(upper.to_lowercase(), lower.to_lowercase());
    assert!(upper.starts_with("failed/timm_timm.layers.drop.DropPath-"), "{upper}");
}

#[test]
fn blocks_below_the_minimum_get_no_spec() {
    assert!(emit(r#"{"minimum_level": 6}"#, &block()).is_empty());
}

#[test]
fn the_index_lists_what_was_described() {
    let emitter = configured::<NeutralSpec>("{}").expect("the configuration is right");
    let emitted = |name: &str, paths: &[&str]| Emitted {
        id: format!("timm:{name}"),
        name: name.to_owned(),
        category: Category::Loss,
        level: 3,
        paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        entry: None,
    };
    let files =
        emitter.emit_index(&[emitted("A", &["blocks/A.json"]), emitted("B", &[])]).expect("it has no reason to fail");
    let index: serde_json::Value = serde_json::from_slice(&files[0].content).expect("it is JSON");
    assert_eq!(files[0].path, "index.json");
    assert_eq!(
        index["blocks"],
        serde_json::json!([{"id": "timm:A", "name": "A", "category": "loss", "level": 3, "path": "blocks/A.json"}])
    );
}
