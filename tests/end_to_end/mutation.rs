//! Bundles that were changed in one place: those that parity lets pass must be those that nobody can tell from the bundle.

use super::support::{Playground, python};
use netquarry_tests::mutation::{Choice, Tools, by_kind, study, table};

/// One block; those of the other tests stay out of it.
const CORPUS: &str = r#"{
  "name": "varied",
  "description": "One module",
  "sources": [{"name": "varied", "location": {"local": {"path": "package"}}}],
  "targets": ["varied.Varied"]
}"#;

/// A module in which every kind of change has a place, some of them where nothing runs.
const VARIED: &str = r#"
import torch
import torch.nn.functional as F
from torch import nn

LIMIT = 0.5


def pooled(x, mode="mean", dim=-1):
    if mode == "mean":
        return x.mean(dim)
    return x.max(dim).values


def unused(x, slope=0.25):
    return F.relu(x) - slope * x


class Gate(nn.Module):
    def __init__(self, scale=2.0, inverted=False):
        super().__init__()
        self.weight = nn.Parameter(torch.full((1,), scale))
        self.inverted = inverted

    def forward(self, x):
        gate = torch.sigmoid(self.weight * x)
        return 1 - gate if self.inverted else gate


class HardGate(Gate):
    def forward(self, x):
        return torch.clamp(super().forward(x), 0.25, 0.75)


class Varied(nn.Module):
    def __init__(self, width: int = 8, kernel_size: int = 3, depth: int = 2, dropout: float = 0.1):
        super().__init__()
        self.layers = nn.ModuleList()
        for place in range(depth):
            activation = nn.ReLU() if place == 0 and width > 4 else nn.GELU()
            convolution = nn.Conv2d(width, width, kernel_size, padding=kernel_size // 2, bias=place != 1)
            self.layers.append(nn.Sequential(convolution, nn.BatchNorm2d(width, momentum=0.2), activation))
        self.gate = HardGate()
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("shift", torch.arange(width) * LIMIT)

    def forward(self, x):
        for layer in self.layers:
            x = x + layer(x)
        x = self.dropout(x * self.gate(x))
        if self.training or x.requires_grad:
            x = torch.where(x > LIMIT, x, -x)
        return pooled(torch.flatten(x, 2)) + self.shift
"#;

#[test]
fn what_passes_parity_cannot_be_told_from_the_bundle() {
    let playground = Playground::new();
    playground.write("corpus.json", CORPUS);
    playground.write("package/varied.py", VARIED);
    playground.mine(&["run", "--level", "parity", "--quiet"]).succeeded();
    let tools =
        Tools { netquarry: &|| playground.mining(&["--quiet"]), python: python(), folder: &playground.path("mutants") };
    let mutants = study(&playground.path("out"), Choice { bundles: 1, mutants: 80, seed: 0 }, &tools).unwrap();
    let table = table(&mutants);
    let figures = by_kind(&mutants);
    assert_eq!((mutants.len(), figures.len()), (80, 16), "{table}");
    let not_as_parity_says = mutants.iter().filter(|it| it.is_false_pass() || it.is_false_alarm());
    let not_as_parity_says: Vec<String> = not_as_parity_says.map(ToString::to_string).collect();
    assert!(not_as_parity_says.is_empty(), "{}\n{table}", not_as_parity_says.join("\n"));
    // The study sees what it is to see: changes that pass because nothing ran, and changes that are found out.
    let count = |of: &dyn Fn(&netquarry_tests::mutation::Figures) -> usize| figures.values().map(of).sum::<usize>();
    assert!(count(&|it| it.did_not_run) > 0 && count(&|it| it.same) > 0, "{table}");
    assert!(count(&|it| it.forward - it.parity) > 20 && count(&|it| it.not_observed) == 0, "{table}");
}
