use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use netquarry_sdk::configured;
use netquarry_sdk::emit::{Category, Parameter, ParameterKind, Placement, Provenance, Tensor};
use serde_json::{Value, json};

use super::*;

const HEADER: &str = "# timm:timm.layers.x.X\n#\n# Source: timm 1.0.31, https://pypi.org/simple/timm/\n\
    # SPDX-License-Identifier: Apache-2.0\n\
    # Assembled by NetQuarry; manifest.jsonl lists every definition and every edit.\n\n";
const SCALE: &str = "import torch.nn as nn\n\n\nclass Scale(nn.Module):\n    \"\"\"Secret.\"\"\"\n\n    \
    def forward(self, x):\n        return x * 2\n";

fn block(name: &str, code: &str) -> Block {
    let parameter = |name: &str, kind, default: Option<&str>| Parameter {
        name: name.to_owned(),
        kind,
        annotation: None,
        default: default.map(str::to_owned),
    };
    let tensor = |name: &str| Tensor { name: name.to_owned(), shape: vec![2, 8], dtype: "float32".to_owned() };
    Block {
        id: format!("timm:timm.layers.{}.{name}", name.to_lowercase()),
        name: name.to_owned(),
        category: Category::Attention,
        provenance: Provenance {
            source: "timm".to_owned(),
            kind: "pypi".to_owned(),
            version: Some("1.0.31".to_owned()),
            commit: None,
            file: format!("timm/layers/{}.py", name.to_lowercase()),
            first_line: 1,
            last_line: 9,
            sha1: "0".repeat(40),
            swhid: format!("swh:1:cnt:{}", "0".repeat(40)),
        },
        license: Some("Apache-2.0".to_owned()),
        bundle: Some(format!("blocks/{name}__timm_layers.py")),
        sha256: Some("1".repeat(64)),
        code: Some(format!("{HEADER}{code}")),
        requirements: vec!["numpy".to_owned(), "torch".to_owned()],
        constructor_parameters: vec![
            parameter("dim", ParameterKind::PositionalOrKeyword, None),
            parameter("act", ParameterKind::KeywordOnly, Some("lambda x:\n    secret")),
        ],
        forward_parameters: vec![
            parameter("x", ParameterKind::PositionalOrKeyword, None),
            parameter("masks", ParameterKind::Variadic, None),
        ],
        constructor_arguments: vec![("act".to_owned(), "secret()".to_owned()), ("dim".to_owned(), "8".to_owned())],
        inputs: vec![tensor("x")],
        outputs: vec![tensor("0")],
        parameter_count: Some(1500),
        closure: Vec::new(),
        level: 5,
        outcomes: Vec::new(),
        failure: None,
        manifest_record: "{}".to_owned(),
    }
}

fn emitter(configuration: Value) -> NnGpt {
    configured(&configuration.to_string()).expect("the configuration is right")
}

/// The texts of all files by path, as the host puts them together.
fn emitted(configuration: Value, blocks: &[Block]) -> BTreeMap<String, String> {
    let emitter = emitter(configuration);
    let mut texts = BTreeMap::new();
    let mut put = |file: File| {
        let text = String::from_utf8(file.content).expect("it is text");
        let whole: &mut String = texts.entry(file.path).or_default();
        assert!(matches!(file.placement, Placement::Appended) || whole.is_empty());
        whole.push_str(&text);
    };
    let mut answers = Vec::new();
    for block in blocks {
        let emission = emitter.emit_block(block).expect("it has no reason to fail");
        answers.push(Emitted {
            id: block.id.clone(),
            name: block.name.clone(),
            category: block.category,
            level: block.level,
            paths: emission.files.iter().map(|file| file.path.clone()).collect(),
            entry: emission.entry,
        });
        emission.files.into_iter().for_each(&mut put);
    }
    emitter.emit_index(&answers).expect("it has no reason to fail").into_iter().for_each(put);
    texts
}

/// The records of all splits.
fn records(texts: &BTreeMap<String, String>) -> Vec<Value> {
    let lines = texts.iter().filter(|(path, _)| path.ends_with(".jsonl")).flat_map(|(_, text)| text.lines());
    lines.map(|line| serde_json::from_str(line).expect("it is JSON")).collect()
}

fn manifest(texts: &BTreeMap<String, String>) -> Value {
    serde_json::from_str(&texts["chat_data/manifest.json"]).expect("it is JSON")
}

/// `cases/` and, so that no split is empty, copies of one block under other names.
fn cases() -> Vec<Block> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cases");
    let mut paths: Vec<_> =
        folder.read_dir().expect("it is there").map(|entry| entry.expect("it is readable").path()).collect();
    paths.sort();
    let case = |path: &std::path::PathBuf| {
        let name = path.file_stem().and_then(|name| name.to_str()).expect("it is a class name");
        block(name, &std::fs::read_to_string(path).expect("it is readable"))
    };
    let copy = |number: usize| {
        let name = format!("Scale{number}");
        block(&name, &SCALE.replace("Scale", &name))
    };
    paths.iter().map(case).chain((0..40).map(copy)).collect()
}

/// What `tests/oracles/chat_records.py` says of the files: whether it takes all records, and its figures.
fn judged(texts: &BTreeMap<String, String>) -> (bool, String) {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    std::fs::create_dir(folder.path().join("chat_data")).expect("it is empty");
    for (path, text) in texts.iter().filter(|(path, _)| path.starts_with("chat_data/")) {
        std::fs::write(folder.path().join(path), text).expect("it is writable");
    }
    let oracle = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/oracles/chat_records.py");
    let output = Command::new("python3")
        .args(["-I", "-B"])
        .arg(oracle)
        .arg(folder.path().join("chat_data"))
        .output()
        .expect("python3 is on PATH");
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(text).expect("UTF-8"))
}

#[test]
fn readers_take_every_record() {
    for grouping in ["file", "source"] {
        let mut blocks = cases();
        for (number, block) in blocks.iter_mut().enumerate() {
            block.provenance.source = format!("source{}", number % 30);
        }
        let (is_accepted, judgement) = judged(&emitted(json!({"group_by": grouping}), &blocks));
        assert!(is_accepted, "{judgement}");
        assert!(judgement.starts_with("88 records, 88 accepted, "), "{judgement}");
    }
}

#[test]
fn the_oracle_refuses_what_readers_would_drop_or_cut() {
    let texts = emitted(json!({}), &cases());
    let train = &texts["chat_data/train.jsonl"];
    let first = train.lines().next().expect("there are records");
    let id = serde_json::from_str::<Value>(first).expect("it is JSON")["id"].as_str().expect("text").to_owned();
    let corruptions = [
        ("schema", "\"type\":\"full\"", "\"type\":\"none\""),
        ("schema", "\"meta\":{", "\"meta\":{\"group_key\":\"a\","),
        ("roles", "\"role\":\"system\"", "\"role\":\"user\""),
        ("fence", "\"```python\\n", "\"```\\n"),
        ("fence", "Secret.", "```Secret.```"),
        ("marker", "Task: ", "<|im_end|>Task: "),
        ("parse", "\\nclass ", "\\nclass class "),
        ("module", "(nn.Module)", "(nn.Linear)"),
        ("signals", "\"family\":\"generic\"", "\"family\":\"vgg\""),
        ("signals", "\"param_estimate\":0", "\"param_estimate\":9"),
        ("schema", "\"calls\":[", "\"calls\":[,"),
        ("infill", "        raise NotImplementedError", "        raise NotImplemented"),
        ("infill", "\"content\":\"import torch.nn as nn\\n", "\"content\":\"import torch.nn as nn\\n\\n"),
        ("task", "as the class ", "as the class Un"),
        ("identity", &id, "none"),
        ("manifest", first, ""),
        ("pair", first, ""),
    ];
    for (rule, text, replacement) in corruptions {
        let mut corrupted = texts.clone();
        let replaced = train.replace(text, replacement);
        assert_ne!(&replaced, train, "{rule}: {text} is not there");
        corrupted.insert("chat_data/train.jsonl".to_owned(), replaced);
        let (is_accepted, judgement) = judged(&corrupted);
        assert!(!is_accepted && judgement.contains(&format!(" {rule}")), "{rule}: {judgement}");
    }
}

#[test]
fn no_record_is_in_two_splits() {
    let mut texts = emitted(json!({}), &cases());
    let test = texts["chat_data/test.jsonl"].clone();
    texts.get_mut("chat_data/train.jsonl").expect("it is there").push_str(&test);
    let (is_accepted, judgement) = judged(&texts);
    assert!(!is_accepted && judgement.contains(" split") && judgement.contains(" identity"), "{judgement}");
}

#[test]
fn a_full_record_asks_for_the_block_and_answers_with_its_code() {
    let records = records(&emitted(json!({"infill": false}), &[block("Scale", SCALE)]));
    assert_eq!(records.len(), 1);
    let [system, user, assistant] = [0, 1, 2].map(|number| &records[0]["messages"][number]);
    assert_eq!(system["content"], prompt::SYSTEM);
    let question = "Task: Write an attention block for PyTorch as the class Scale.\n\
        Interface: Scale(dim, act=...) with forward(x, *masks).\n\
        Shapes: x float32[2, 8] -> float32[2, 8], with dim=8.\n\
        Resource limits: params ≤ 2000 in this configuration.\n\
        Constraints: import only numpy, torch and the standard library; no pretrained weights.\n\
        Output contract: one Python code block that defines the complete nn.Module Scale and every helper it uses.";
    assert_eq!(user["content"], question);
    assert_eq!(assistant["content"], format!("```python\n{}\n```", SCALE.trim()));
    let meta = json!({
        "source_path": "timm/timm/layers/scale.py", "has_module": true, "family": "generic", "param_estimate": 0,
        "class_names": ["Scale"], "calls": [], "type": "full",
    });
    assert_eq!(records[0]["meta"], meta);
}

#[test]
fn an_infill_record_differs_from_the_code_by_the_body() {
    let cases = [
        ("def forward(self, x):\n        return x", "def forward(self, x):\n        raise NotImplementedError"),
        ("def forward(self, x): return x  # fast", "def forward(self, x): raise NotImplementedError"),
        (
            "def forward(self, x):  # first\n        # second\n        '''Third.'''\n        return x  # fourth\n    \
             # fifth",
            "def forward(self, x):  # first\n        # second\n        raise NotImplementedError\n    # fifth",
        ),
        (
            "def forward(self, x): pass\n    def forward(self, x):\n        x = x; return (\n            x)\n    y = 1",
            "def forward(self, x): pass\n    def forward(self, x):\n        raise NotImplementedError\n    y = 1",
        ),
        (
            "if True:\n        def forward(self, x):\n            @ staticmethod\n            def f(): 0\n            \
             return f()\n    else: forward = None",
            "if True:\n        def forward(self, x):\n            raise NotImplementedError\n    else: forward = None",
        ),
    ];
    for (body, expected) in cases {
        let code = |body: &str| format!("from torch import nn\nclass A(nn.Module):\n    {body}\nclass B: pass");
        let records = records(&emitted(json!({}), &[block("A", &code(body))]));
        assert_eq!(records[1]["messages"][1]["content"], code(expected));
    }
}

#[test]
fn a_block_that_readers_would_drop_or_cut_has_no_record() {
    let module = |body: &str| format!("from torch import nn\nclass A(nn.Module):\n    {body}\n");
    let forward = "def forward(self, x):\n        return x";
    let cases = [
        ("blocks", "too_long", module(&format!("{forward}\n# {}", "x".repeat(12_000)))),
        ("blocks", "code_fence", module(&format!("'''```python'''\n    {forward}"))),
        ("blocks", "chat_marker", module(&format!("'''<|endoftext|>'''\n    {forward}"))),
        ("blocks", "parse_fail", module("def forward(self, x) return x")),
        ("blocks", "no_nn_module", module(forward).replace("nn.Module", "nn.Linear")),
        ("infill", "no_forward", module("forward = nn.ReLU.forward")),
        ("infill", "nothing_to_fill", module("def forward(self, x):\n        '''To do.'''\n        raise TypeError")),
    ];
    for (what, reason, code) in cases {
        let texts = emitted(json!({}), &[block("A", &code)]);
        let manifest = manifest(&texts);
        assert_eq!(manifest["left_out"][what][reason], 1, "{manifest}");
        assert_eq!(records(&texts).len(), usize::from(what == "infill"));
        assert!(texts.contains_key("blocks/A__timm_layers.py"));
    }
}

#[test]
fn a_block_file_is_the_bundle_behind_its_marker() {
    let texts = emitted(json!({}), &[block("Scale", SCALE)]);
    assert_eq!(texts["blocks/Scale__timm_layers.py"], format!("# ---- Scale (target) ----\n{HEADER}{SCALE}"));
}

#[test]
fn a_candidate_has_the_keys_of_the_listing_and_no_text_of_upstream() {
    let texts = emitted(json!({}), &[block("Scale", SCALE)]);
    let specification: Value = serde_json::from_str(&texts["spec.json"]).expect("it is JSON");
    let summary = "An attention block with 1500 parameters; x float32[2, 8] -> float32[2, 8], with dim=8; \
        configured by dim, act; needs numpy, torch.";
    let candidate = json!({"class": "Scale", "forward_args": ["x", "*masks"], "summary": summary});
    assert_eq!(specification, json!({"candidates": [candidate]}));
    assert!(!texts["spec.json"].to_lowercase().contains("secret"));
}

#[test]
fn all_files_that_readers_open_are_there_without_any_block() {
    let texts = emitted(json!({}), &[]);
    for split in ["train", "dev", "test"] {
        assert_eq!(texts[&format!("chat_data/{split}.jsonl")], "");
    }
    assert_eq!(manifest(&texts)["summary"]["counts"], json!({"train": 0, "dev": 0, "test": 0}));
    assert_eq!(serde_json::from_str::<Value>(&texts["spec.json"]).expect("it is JSON"), json!({"candidates": []}));
}

#[test]
fn the_manifest_names_the_block_of_each_record() {
    let texts = emitted(json!({}), &[block("Scale", SCALE)]);
    let manifest = manifest(&texts);
    for record in records(&texts) {
        let id = record["id"].as_str().expect("it is text");
        assert_eq!(manifest["blocks"][id], "timm:timm.layers.scale.Scale");
    }
    assert_eq!(manifest["licenses"], json!({"Apache-2.0": 2}));
}

#[test]
fn blocks_without_a_bundle_or_below_the_minimum_are_left_out() {
    let below = Block { level: 2, ..block("Below", SCALE) };
    let without = Block { code: None, bundle: None, ..block("Without", SCALE) };
    for texts in [emitted(json!({}), &[below]), emitted(json!({"minimum_level": 1}), &[without])] {
        assert!(!texts.keys().any(|path| path.starts_with("blocks/")), "{texts:?}");
        assert_eq!(manifest(&texts)["summary"]["total_examples"], 0);
    }
}

#[test]
fn a_group_stays_on_its_side_and_shares_are_met_on_the_average() {
    let side = |number: u32| Split::of(&format!("timm/{number}.py"), 0.1, 0.1);
    let sides: Vec<Split> = (0..10_000).map(side).collect();
    let count = |split: Split| sides.iter().filter(|side| **side == split).count();
    assert!((900..1_100).contains(&count(Split::Dev)), "{}", count(Split::Dev));
    assert!((900..1_100).contains(&count(Split::Test)), "{}", count(Split::Test));
    // Of a larger share of tests, those that were there are still a part.
    let grown = |number: u32| Split::of(&format!("timm/{number}.py"), 0.1, 0.2) == Split::Test;
    assert!((0..10_000).zip(&sides).all(|(number, side)| *side != Split::Test || grown(number)));
}

/// The same as those of the datasets that `netquarry export` writes; the host's tests have these paths, too.
#[test]
fn sides_of_files_are_those_of_datasets() {
    for (path, side) in [
        ("timm/layers/drop.py", Split::Train),
        ("netquarry/2.py", Split::Dev),
        ("timm/layers/gather_excite.py", Split::Test),
    ] {
        assert_eq!(Split::of(path, 0.1, 0.1), side, "{path}");
    }
}

#[test]
fn identifiers_are_those_of_pythons_uuid5() {
    // uuid.uuid5(uuid.NAMESPACE_URL, "urn:netquarry:chat:full:a:b.C\nimport torch")
    let identifier = identity::uuid("urn:netquarry:chat:full:a:b.C\nimport torch");
    assert_eq!(identifier, "f5c2fb8b-ead6-5dac-897a-eafbfbfda9a4");
}

#[test]
fn a_wrong_configuration_is_refused_where_it_is_wrong() {
    let cases = [
        (json!({"minimum_level": 0}), "/minimum_level"),
        (json!({"minimum_level": 8}), "/minimum_level"),
        (json!({"maximum_characters": 0}), "/maximum_characters"),
        (json!({"dev_share": 1.5}), "/dev_share"),
        (json!({"test_share": -0.1}), "/test_share"),
        (json!({"dev_share": 0.6, "test_share": 0.6}), "/test_share"),
        (json!({"group_by": "author"}), "/group_by"),
        (json!({"seed": 1}), "/seed"),
    ];
    for (configuration, pointer) in cases {
        let error = configured::<NnGpt>(&configuration.to_string()).err().expect("it is wrong");
        assert_eq!(error.pointer, pointer, "{configuration}: {}", error.message);
    }
}
