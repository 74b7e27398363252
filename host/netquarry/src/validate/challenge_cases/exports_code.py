# level: backward
# tainted: modules running, modules text
# note: not_replayed: run: UnknownOperator: _operator.attrgetter is no operator of torch
# It has the validator write a graph that would reach for the attributes of values.
import sys

from torch import nn

export = sys.modules["netquarry_worker.export"]
name_of = export.name_of
export.name_of = lambda target: "_operator.attrgetter" if "relu" in name_of(target) else name_of(target)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(16, 16)

    def forward(self, x):
        return self.linear(x).relu()
