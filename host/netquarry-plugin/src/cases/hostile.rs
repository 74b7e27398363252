//! Inputs that no author thinks of: each plugin has to answer them or to refuse, and must not fail.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::Case;
use crate::plugin::Kind;

/// Cases without outputs, by name. A plugin that refuses one has done well; one that traps, loops or breaks the contract has
/// not.
pub fn hostile(kind: Kind) -> BTreeMap<&'static str, Case> {
    let inputs = match kind {
        Kind::DiscoveryRule => {
            repositories().into_iter().map(|(name, files)| (name, json!({"files": files}))).collect()
        }
        Kind::RepoShim => shims(),
        Kind::DedupStrategy => strategies(),
        Kind::SpecEmitter => emitters(),
    };
    let case = |(name, input)| (name, Case { configuration: Map::new(), input, output: Value::Null });
    inputs.into_iter().map(case).collect()
}

type Inputs = Vec<(&'static str, Value)>;

const PLAIN: &str = "\
import torch.nn as nn


class Block(nn.Module):
    def forward(self, x):
        return x
";

fn repositories() -> Vec<(&'static str, BTreeMap<String, String>)> {
    let one = |text: String| BTreeMap::from([("package/module.py".to_owned(), text)]);
    let deep =
        format!("import torch.nn as nn\nclass Block(nn.Module):\n    x = {}0{}\n", "(".repeat(500), ")".repeat(500));
    let many = (0..1200).map(|number| format!("class Block{number}(nn.Module):\n    def forward(self): ...\n"));
    let many = format!("import torch.nn as nn\n{}", many.collect::<String>());
    let cycle = "class First(Second): ...\nclass Second(First):\n    def forward(self): ...\n";
    let foreign = "import torch.nn as nn\nclass Блок(nn.Module):\n    def forward(self, входы): return входы\n";
    let expressions = "\
import torch.nn as nn
@(lambda c: c)
class Block((nn.Module, object)[0], *[], metaclass=type(nn.Module)):
    forward = lambda self, x, /, *rest, key=..., **more: x
";
    vec![
        ("no_file", BTreeMap::new()),
        ("empty_file", one(String::new())),
        ("no_python", one("class Block(:\n".to_owned())),
        ("odd_path", BTreeMap::from([("a b/c-d.py".to_owned(), PLAIN.to_owned())])),
        ("deep_expression", one(deep)),
        ("many_classes", one(many)),
        ("bases_in_a_cycle", one(cycle.to_owned())),
        ("other_scripts", one(foreign.to_owned())),
        ("expressions_for_bases", one(expressions.to_owned())),
        ("long_name", one(PLAIN.replace("Block", &"Block".repeat(2000)))),
    ]
}

fn shims() -> Inputs {
    let bundled = |(name, files): (&'static str, BTreeMap<String, String>)| {
        let has_block = files.get("package/module.py").is_some_and(|text| text.contains("class Block("));
        let blocks: &[&str] = if has_block && name != "no_python" { &["package.module.Block"] } else { &[] };
        (name, json!({"files": files, "blocks": blocks}))
    };
    repositories().into_iter().map(bundled).collect()
}

fn strategies() -> Inputs {
    let block = |id: usize, code: &str| json!({"id": format!("test:package.Block{id}"), "code": code});
    let blocks = |codes: &[&str]| codes.iter().enumerate().map(|(id, code)| block(id, code)).collect::<Vec<_>>();
    let removed: Vec<Value> =
        (0..3).map(|id| json!({"id": format!("removed{id}"), "code": PLAIN, "removed": true})).collect();
    let odd = json!({
        "id": "",
        "name": "",
        "source": "\u{202e}",
        "priority": i32::MIN,
        "level": 255,
        "accuracy": -1.0,
        "code": PLAIN,
    });
    vec![
        ("no_block", json!({"blocks": []})),
        ("one_block", json!({"blocks": blocks(&[PLAIN])})),
        ("empty_codes", json!({"blocks": blocks(&["", "", "\n"])})),
        ("no_python", json!({"blocks": blocks(&["class Block(:", "class Block(:", "\u{0}"])})),
        ("many_equals", json!({"blocks": blocks(&[PLAIN; 60])})),
        ("all_removed", json!({"blocks": removed})),
        ("odd_summary", json!({"blocks": [odd]})),
        ("one_long_line", json!({"blocks": blocks(&[&format!("x = {}0", "1 + ".repeat(20_000)), PLAIN])})),
    ]
}

fn emitters() -> Inputs {
    let record = |name: &str| json!({"block": format!("case:case.{name}"), "name": name});
    let with = |name: &str, fields: Value| {
        let mut record = record(name);
        let fields = fields.as_object().cloned().unwrap_or_default();
        record.as_object_mut().expect("it is an object").extend(fields);
        record
    };
    let alone = |record: Value, code: Value| json!({"blocks": [{"record": record, "code": code}]});
    let plain: Vec<&str> = PLAIN.split('\n').collect();
    let huge = json!({
        "evidence": {
            "constructor_arguments": {"x": "1".repeat(100_000)},
            "forward_inputs": [{"name": "x", "shape": [0, u64::MAX], "dtype": "float128"}],
            "forward_outputs": [],
            "parameters": u64::MAX,
            "notes": [],
        },
    });
    let parameter = json!({"name": "*", "kind": "variadic", "annotation": "\"", "default": "lambda: (yield)"});
    vec![
        ("no_block", json!({"blocks": []})),
        ("nothing_known", alone(record("Block"), Value::Null)),
        ("empty_code", alone(record("Block"), json!([""]))),
        ("no_python", alone(record("Block"), json!(["class Block(:"]))),
        ("other_scripts", alone(record("Блок"), json!(plain))),
        (
            "odd_parameters",
            alone(with("Block", json!({"constructor": [parameter], "forward": [parameter]})), json!(plain)),
        ),
        ("huge_values", alone(with("Block", huge), json!(plain))),
        (
            "names_that_differ_in_case",
            json!({"blocks": [{"record": record("Block"), "code": plain}, {"record": record("BLOCK"), "code": plain}]}),
        ),
        ("name_of_a_device", alone(record("con"), json!(plain))),
    ]
}
