use netquarry_sdk::emit::{Category, Dependency, Failure, Outcome, Parameter, ParameterKind, Provenance, Tensor};
use netquarry_sdk::{Refusal, configured};

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
        manifest_record: record().to_string(),
    }
}

/// What the host tells beside the fields of the contract's record.
fn record() -> serde_json::Value {
    let trial = |varied: &str, axis: u64, size: u64, outputs: serde_json::Value| serde_json::json!({"varied": varied, "axes": [{"input": "x", "axis": axis, "size": size}], "outputs": outputs});
    serde_json::json!({
        "edits": [{"before": CODE}],
        "evidence": {
            "flops": null,
            "gradient": {"trained": 1, "reached": 1},
            "challenge": {
                "deterministic": true,
                "training": {"raises": false, "output_differs": true, "state_changes": false},
            },
            "trials": {
                "sizes": [
                    trial("batch", 0, 1, serde_json::json!([[1, 8]])),
                    trial("batch", 0, 3, serde_json::json!([[3, 8]])),
                    trial("axis", 1, 16, serde_json::Value::Null),
                ],
                "batch_independent": true,
                "dtypes": [{"dtype": "float64", "outputs": ["float64"]}, {"dtype": "bfloat16", "outputs": null}],
                "other_device": true,
            },
        },
        "structure": {
            "state": [{"name": "scale.weight", "kind": "parameter", "shape": [8], "dtype": "float32", "trained": true,
                "same_as": null}],
            "submodules": [
                {"path": "", "class_name": "DropPath", "options": {}},
                {"path": "scale", "class_name": "torch.nn.LayerNorm", "options": {"normalized_shape": "(8,)"}},
            ],
            "calls": [
                {"operation": "input", "path": "x", "inputs": [], "shape": [2, 8]},
                {"operation": "torch.nn.LayerNorm", "path": "scale", "inputs": [0], "shape": [2, 8]},
                {"operation": "output", "path": null, "inputs": [1], "shape": null},
            ],
        },
    })
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
    assert_eq!(
        spec["summary"],
        "A layer without parameters that takes x [2, 8] and gives 0 [2, 8], from one definition."
    );
    assert_eq!(spec["constructor"]["parameters"][0]["default"], serde_json::json!({"kind": "float", "value": 0.0}));
    assert_eq!(spec["constructor"]["parameters"][1]["default"], serde_json::json!({"kind": "expression"}));
    assert_eq!(spec["constructor"]["parameters"][1]["required"], false);
    assert_eq!(spec["forward"]["inputs"][0]["shape"], serde_json::json!([2, 8]));
    assert_eq!(spec["forward"]["outputs"][0]["axes"][0]["follows"][0]["times"], 1);
    assert_eq!(spec["forward"]["outputs"][0]["axes"][1]["follows"], serde_json::json!([]));
    assert_eq!(spec["instance"]["submodules"][1]["options"]["normalized_shape"]["length"], 1);
    assert_eq!(spec["instance"]["layers"][1]["inputs"], serde_json::json!([0]));
    assert_eq!(spec["invariants"]["sizes"][1]["fails"], serde_json::json!([[16]]));
    assert_eq!(spec["invariants"]["training"]["output_differs"], true);
    assert_eq!(spec["invariants"]["dtypes"]["bfloat16"], serde_json::Value::Null);
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

#[test]
fn the_published_schema_is_that_of_the_code() {
    let schema = serde_json::to_string_pretty(&spec::schema()).expect("a schema has string keys");
    assert_eq!(
        include_str!("../schema.json").trim_end(),
        schema,
        "copy what stands on the right to plugins/emit-neutral-spec/schema.json"
    );
}

#[test]
fn a_record_of_another_form_fails_its_block() {
    let mut block = block();
    block.manifest_record = "\"none\"".to_owned();
    let emitter = configured::<NeutralSpec>("{}").expect("the configuration is right");
    match emitter.emit_block(&block) {
        Err(Refusal::Input(message)) => assert!(message.starts_with("the manifest's record: "), "{message}"),
        other => panic!("{other:?}"),
    }
}
