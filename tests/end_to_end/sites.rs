//! A class that can only be constructed with what another file passes to it.

use serde_json::json;

use crate::support::Playground;

const CORPUS: &str = r#"{
    "name": "sites", "description": "Two packages, one of which constructs the blocks of the other",
    "discovery_rule": "discover-nn-module-deep",
    "sources": [
        {"name": "bricks", "priority": 1, "location": {"local": {"path": "bricks"}}},
        {"name": "houses", "priority": 2, "location": {"local": {"path": "houses"}}}
    ]
}"#;

const PROJECT: &str = "[project]\nname = \"bricks\"\nversion = \"1.0\"\ndependencies = [\"torch\"]\n";

const BRICK: &str = r#"import torch
from torch import nn

PRIME = 7919


class Called(nn.Module):
    def __init__(self, width, plan, act):
        super().__init__()
        if sum(part * PRIME for part in plan) != 31 * PRIME or width != sum(plan):
            raise ValueError("it does not add up")
        self.layer, self.act = nn.Linear(width, width), act()

    def forward(self, x):
        return self.act(self.layer(x))


class Configured(Called):
    pass


class Furnished(Called):
    pass
"#;

/// `bricks` calls it by another name; the width of one is known to the caller alone.
const HOUSE: &str = r"import torch.nn as tnn
from bricks import Brick
from bricks.brick import Furnished


def house(width):
    return [
        Brick(width, plan=[width]),
        Brick(31, plan=[30, 1], act=tnn.GELU),
    ]


def cottage(width=31):
    act = tnn.GELU
    plan = [width - 1, 1]
    return Furnished(width, plan, act=act)
";

const CONFIGURATION: &str = "model = dict(\n    neck={\"type\": \"Configured\", \"width\": 31, \"plan\": (20, 11), \"act\": \"GELU\"},\n    \
     head=dict(kind=\"Configured\", width=31, plan=parts, act=ACTS[0]),\n)\n";

fn playground() -> Playground {
    let playground = Playground::new();
    playground.write("corpus.json", CORPUS);
    playground.write("bricks/pyproject.toml", PROJECT);
    playground.write("bricks/bricks/__init__.py", "from .brick import Called as Brick\n");
    playground.write("bricks/bricks/brick.py", BRICK);
    playground.write("houses/house.py", HOUSE);
    playground.write("houses/configs/small.py", CONFIGURATION);
    playground
}

#[test]
fn a_block_is_constructed_as_others_construct_it() {
    let playground = playground();
    let run = ["run", "--level", "forward", "--quiet"];
    playground.mine(&[&run[..], &["--threads", "1"]].concat()).succeeded();
    let manifest = playground.manifest("out");
    let called = &manifest["bricks:bricks.brick.Called"];
    assert_eq!(called["level"], 5, "{called}");
    let arguments = json!({"width": "31", "plan": "[30, 1]", "act": "torch.nn.GELU"});
    assert_eq!(called["evidence"]["constructor_arguments"], arguments);
    assert_eq!(called["evidence"]["notes"], json!(["call_site_arguments: house.py:9"]));
    // What the function around it binds stands in the place of its names.
    let furnished = &manifest["bricks:bricks.brick.Furnished"]["evidence"];
    let arguments = json!({"width": "31", "plan": "[30, 1]", "act": "torch.nn.GELU"});
    assert_eq!(furnished["constructor_arguments"], arguments);
    assert_eq!(furnished["notes"], json!(["call_site_arguments: house.py:16"]));
    // The part of a configuration that stands by itself goes with guesses.
    let configured = &manifest["bricks:bricks.brick.Configured"]["evidence"];
    assert_eq!(configured["constructor_arguments"]["plan"], "(20, 11)");
    assert_eq!(configured["notes"], json!(["call_site_arguments: configs/small.py:2"]));

    // The library keeps what it needs to be validated again.
    let validate = ["validate", "out/blocks/Called.py", "--level", "forward", "--format", "json", "--quiet"];
    assert_eq!(playground.mine(&validate).succeeded().json()[0]["level"], 5);

    // The same on other threads, from nothing.
    playground.bring_plugins("other");
    playground.mine(&[&run[..], &["--threads", "4", "--cache-dir", "other", "--out", "another"]].concat()).succeeded();
    assert_eq!(playground.read("another/manifest.jsonl"), playground.read("out/manifest.jsonl"));

    // What others pass is a part of what a verdict depends on.
    playground.write("houses/house.py", &HOUSE.replace("30, 1", "29, 2"));
    playground.mine(&run).succeeded();
    let called = &playground.manifest("out")["bricks:bricks.brick.Called"]["evidence"];
    assert_eq!(called["constructor_arguments"]["plan"], "[29, 2]");
}
