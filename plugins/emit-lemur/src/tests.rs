use netquarry_sdk::configured;
use netquarry_sdk::emit::{Category, Outcome, Parameter, ParameterKind, Provenance, Tensor};
use serde_json::{Value, json};

use super::*;

const CODE: &str = "\
# timm:timm.layers.Conv
import torch.nn as nn


class Conv(nn.Conv2d):
    pass
";

fn parameter(name: &str, kind: ParameterKind) -> Parameter {
    Parameter { name: name.to_owned(), kind, annotation: None, default: None }
}

fn tensor(name: &str, shape: &[u64]) -> Tensor {
    Tensor { name: name.to_owned(), shape: shape.to_vec(), dtype: "float32".to_owned() }
}

/// A block that takes feature maps of 64 channels and gives others.
fn block() -> Block {
    Block {
        id: "timm:timm.layers.Conv".to_owned(),
        name: "Conv".to_owned(),
        category: Category::Convolution,
        provenance: Provenance {
            source: "timm".to_owned(),
            kind: "pypi".to_owned(),
            version: Some("1.0.31".to_owned()),
            commit: None,
            file: "timm/layers/conv.py".to_owned(),
            first_line: 1,
            last_line: 2,
            sha1: "0".repeat(40),
            swhid: format!("swh:1:cnt:{}", "0".repeat(40)),
        },
        license: Some("Apache-2.0".to_owned()),
        bundle: Some("blocks/Conv.py".to_owned()),
        sha256: Some("1".repeat(64)),
        code: Some(CODE.to_owned()),
        requirements: vec!["torch".to_owned()],
        constructor_parameters: vec![parameter("in_channels", ParameterKind::PositionalOrKeyword)],
        forward_parameters: vec![
            parameter("x", ParameterKind::PositionalOrKeyword),
            parameter("mask", ParameterKind::PositionalOrKeyword),
            parameter("size", ParameterKind::PositionalOrKeyword),
        ],
        constructor_arguments: vec![("in_channels".to_owned(), "64".to_owned())],
        inputs: vec![tensor("x", &[2, 64, 32, 32])],
        outputs: vec![tensor("output", &[2, 128, 16, 16])],
        parameter_count: Some(1000),
        closure: Vec::new(),
        level: 5,
        outcomes: vec![("forward".to_owned(), Outcome::Passed), ("backward".to_owned(), Outcome::Unknown)],
        failure: None,
        manifest_record: record(&json!({"x": "torch.randn((2, 64, 32, 32))"})),
    }
}

fn record(forward_arguments: &Value) -> String {
    json!({"tainted": false, "evidence": {"forward_arguments": forward_arguments, "challenge": null}}).to_string()
}

/// A block that was seen to take and to give these.
fn seen(forward_arguments: &Value, output: &[u64]) -> Block {
    Block { manifest_record: record(forward_arguments), outputs: vec![tensor("output", output)], ..block() }
}

fn emission(block: &Block) -> Emission {
    let emitter = configured::<Lemur>("{}").expect("the configuration is right");
    emitter.emit_block(block).expect("it has no reason to fail")
}

fn entry(block: &Block) -> Entry {
    let entry = emission(block).entry.expect("every block has an entry");
    serde_json::from_str(&entry).expect("it is JSON")
}

fn rule(block: &Block) -> Option<Rule> {
    match entry(block) {
        Entry::Model { rule, .. } => Some(rule),
        Entry::Refused(_) => None,
    }
}

fn refusal(block: &Block) -> Option<Refusal> {
    match entry(block) {
        Entry::Model { .. } => None,
        Entry::Refused(refusal) => Some(refusal),
    }
}

fn text(block: &Block) -> String {
    let file = emission(block).files.pop().expect("it becomes a model");
    String::from_utf8(file.content).expect("it is text")
}

#[test]
fn a_model_is_named_as_lemur_names_it() {
    let files = emission(&block()).files;
    let code = std::str::from_utf8(&files[0].content).expect("it is text");
    assert_eq!(files[0].path, format!("nn/rag-{}.py", name::digest(code)));
}

#[test]
fn a_model_has_what_the_readers_look_for() {
    let text = text(&block());
    assert!(text.contains(CODE), "the bundle's text stays as it is");
    for function in ["supported_hyperparameters", "train_setup", "learn"] {
        assert!(text.contains(&format!("\ndef {function}(")) || text.contains(&format!(" def {function}(")));
    }
    assert!(text.contains("def supported_hyperparameters():\n    return {'lr', 'momentum'}\n"));
    for name in ["'lr'", "'momentum'"] {
        assert!(text.matches(name).count() >= 2, "{name}");
    }
    assert!(!text.contains('{') || !text.contains("{arguments}"), "every part is filled in");
}

#[test]
fn the_evidence_chooses_the_rule() {
    let image = json!({"x": "torch.randn((2, 3, 32, 32))"});
    assert_eq!(rule(&seen(&image, &[2, 1000])), Some(Rule::Network));
    assert_eq!(rule(&seen(&image, &[2, 64, 8, 8])), Some(Rule::Backbone));
    assert_eq!(rule(&seen(&image, &[2, 196, 64])), Some(Rule::Backbone));
    assert_eq!(rule(&seen(&image, &[2, 3, 32, 32])), Some(Rule::Block), "it gives images back");
    let without_parameters = Block { parameter_count: Some(0), ..seen(&image, &[2, 64, 8, 8]) };
    assert_eq!(rule(&without_parameters), Some(Rule::Block));
    assert_eq!(rule(&block()), Some(Rule::Block));
    assert_eq!(rule(&seen(&json!({"x": "torch.randn((2, 16, 64))"}), &[2, 64])), Some(Rule::Block));
}

#[test]
fn arguments_are_given_as_in_validation() {
    let tokens = json!({"x": "torch.randn((2, 64, 8))", "size": "(8, 8)"});
    assert!(text(&seen(&tokens, &[2, 64, 8])).contains("self.block(features[0], size=(8, 8))"));
    let inherited = Block { forward_parameters: Vec::new(), ..block() };
    assert!(text(&inherited).contains("self.block(features[0])"));
    let stem = "_NetquarryStem(in_shape, 64, (32, 32), (64, 32, 32,), False),";
    assert!(text(&block()).contains(stem), "{}", text(&block()));
}

#[test]
fn the_last_positional_parameter_may_be_a_mask() {
    let masked = json!({"x": "torch.randn((2, 64, 8))", "mask": "torch.ones((2, 64), dtype=torch.bool)"});
    let text = text(&seen(&masked, &[2, 64, 8]));
    assert!(text.contains("samples = x.shape[0]"));
    assert!(text.contains("_netquarry_torch.ones((samples, 64,), dtype=_netquarry_torch.bool, device=x.device)"));
}

#[test]
fn the_constructor_sees_the_names_of_validation() {
    let arguments = [("layer", "torch.nn.ReLU"), ("make", "functools.partial(nn.LayerNorm, eps=1e-6)")];
    let arguments = arguments.map(|(name, text)| (name.to_owned(), text.to_owned())).to_vec();
    let parameters = vec![parameter("layer", ParameterKind::PositionalOnly)];
    let text = text(&Block { constructor_arguments: arguments, constructor_parameters: parameters, ..block() });
    let expected =
        "    import functools\n    import torch\n    from torch import nn\n    return Conv(torch.nn.ReLU, make=";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn what_the_batch_is_must_be_told() {
    let unknown = Some(Refusal::BatchAxisUnknown);
    let maps = json!({"x": "torch.randn((2, 64, 32, 32))"});
    assert_eq!(refusal(&seen(&maps, &[64, 2, 32, 32])), unknown, "the output has another first axis");
    assert_eq!(refusal(&seen(&json!({"x": "torch.randn((1, 64, 8, 8))"}), &[1, 64, 8, 8])), unknown, "one sample");
    assert_eq!(refusal(&seen(&maps, &[2, 2])), unknown, "samples may be compared with each other");
    let list = json!({"x": "[torch.randn((2, 64, 3)), torch.randn((2, 64, 3))]"});
    assert_eq!(refusal(&seen(&list, &[2, 2, 64, 32])), unknown, "the list may be the batch");
    assert_eq!(refusal(&seen(&list, &[2, 64, 3])), None);
    let sized = json!({"x": "torch.randn((2, 64, 8))", "size": "(2, 4)"});
    assert_eq!(refusal(&seen(&sized, &[2, 64, 8])), Some(Refusal::ArgumentMayDependOnBatch));
}

#[test]
fn other_batches_that_were_tried_decide() {
    let with_batches = |independent: Value, outputs: Value| {
        let arguments = json!({"x": "torch.randn((2, 64, 32, 32))"});
        let trial = json!({"varied": "batch", "axes": [{"input": "x", "axis": 0, "size": 3}], "outputs": outputs});
        let trials = json!({"sizes": [trial], "batch_independent": independent});
        let record = json!({"evidence": {"forward_arguments": arguments, "trials": trials}});
        Block { manifest_record: record.to_string(), ..seen(&arguments, &[2, 2]) }
    };
    assert_eq!(refusal(&with_batches(json!(true), json!([[3, 2]]))), None);
    assert_eq!(refusal(&with_batches(json!(false), json!([[3, 2]]))), Some(Refusal::BatchDependent));
    assert_eq!(refusal(&with_batches(Value::Null, json!([[3, 2]]))), Some(Refusal::BatchAxisUnknown));
    assert_eq!(refusal(&with_batches(json!(true), json!([[2, 2]]))), Some(Refusal::BatchDependent));
    assert_eq!(refusal(&with_batches(json!(true), Value::Null)), Some(Refusal::BatchDependent));
}

#[test]
fn what_is_no_classifier_is_refused() {
    let outcome = |level: &str, outcome: Outcome| (level.to_owned(), outcome);
    let failed = vec![outcome("forward", Outcome::Passed), outcome("backward", Outcome::Failed)];
    let training = json!({"evidence": {
        "forward_arguments": {"x": "torch.randn((2, 64, 32, 32))"},
        "challenge": {"deterministic": true, "training": {"raises": true}},
    }});
    let transform = json!({"discovered_by": "discover-x 0.1.0: it has forward; timm.data.transforms prepares data"});
    let cases = [
        (Block { manifest_record: transform.to_string(), ..block() }, Refusal::PreparesData),
        (Block { level: 4, ..block() }, Refusal::BelowLevel),
        (Block { manifest_record: json!({"tainted": true}).to_string(), ..block() }, Refusal::Tainted),
        (Block { category: Category::Loss, ..block() }, Refusal::Loss),
        (Block { outcomes: failed, ..block() }, Refusal::NoGradient),
        (Block { manifest_record: training.to_string(), ..block() }, Refusal::RaisesInTraining),
        (seen(&json!({"x": "(8, 8)"}), &[2, 64]), Refusal::NoTensorInput),
        (seen(&json!({"x": "torch.randint(0, 8, (2, 3))"}), &[2, 64]), Refusal::ArgumentNotUnderstood),
        (seen(&json!({"other": "torch.randn((2, 3))"}), &[2, 64]), Refusal::ArgumentNotUnderstood),
        (seen(&json!({"x": "torch.randn((2, 64, 8, 8))"}), &[]), Refusal::NoFeatures),
        (Block { requirements: vec!["causal-conv1d>=1".to_owned()], ..block() }, Refusal::Requirement),
        (Block { parameter_count: Some(1 << 40), ..block() }, Refusal::TooLarge),
    ];
    for (block, expected) in cases {
        assert_eq!(refusal(&block), Some(expected));
    }
}

#[test]
fn the_name_of_the_model_must_be_free() {
    let named = |name: &str, code: &str| Block { name: name.to_owned(), code: Some(code.to_owned()), ..block() };
    let plain = "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n";
    let own = text(&named("Net", plain));
    assert!(own.contains("_NetquarryBlock = Net\n") && own.contains("return _NetquarryBlock("), "{own}");
    let taken = Some(Refusal::NameTaken);
    assert_eq!(refusal(&named("Net", &plain.replace("super()", "super(Net, self)"))), taken);
    assert_eq!(refusal(&named("Conv", plain)), taken);
    assert_eq!(refusal(&named("Conv", "def supported_hyperparameters(): pass")), taken);
    assert_eq!(refusal(&named("Conv", "def max(x): pass")), taken);
    assert_eq!(refusal(&named("Conv", "# Net\nmodels.Net()")), None);
}

#[test]
fn the_configuration_is_checked() {
    for wrong in [r#"{"prefix": "a_b"}"#, r#"{"prefix": ""}"#, r#"{"minimum_level": 4}"#, r#"{"minimum": 5}"#] {
        assert!(configured::<Lemur>(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn the_index_counts_what_became_of_all() {
    let emitted = |id: &str, entry: Entry, paths: &[&str]| Emitted {
        id: id.to_owned(),
        name: id.to_owned(),
        category: Category::Convolution,
        level: 5,
        paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        entry: Some(serde_json::to_string(&entry).expect("it is data")),
    };
    let model = Entry::Model { name: "rag-0".to_owned(), rule: Rule::Block };
    let blocks = [emitted("a", model, &["nn/rag-0.py"]), emitted("b", Entry::Refused(Refusal::Loss), &[])];
    let emitter = configured::<Lemur>("{}").expect("the configuration is right");
    let files = emitter.emit_index(&blocks).expect("it has no reason to fail");
    let index: Value = serde_json::from_slice(&files[0].content).expect("it is JSON");
    let counts = json!({"blocks": 2, "models": 1, "by_rule": {"block": 1}, "by_refusal": {"loss": 1}});
    assert_eq!(index["counts"], counts);
    assert_eq!(index["refused"], json!([{"id": "b", "category": "convolution", "reason": "loss"}]));
    assert_eq!(index["models"][0]["path"], "nn/rag-0.py");
}
