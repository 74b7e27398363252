# level: backward
# tainted: modules running, modules text
# note: not_replayed: run: NotPlain: `print('here') or torch.randn((2, 16))` is more than what torch makes of numbers
# It has the validator record an input that would run in the process that has never seen it.
import sys

from torch import nn


def pass_through(*arguments):
    expression = "print('here') or torch.randn((2, 16))"
    return {"forward_arguments": {"x": expression}, "forward_inputs": [], "forward_outputs": [], "notes": []}


sys.modules["netquarry_worker.inputs"].pass_through = pass_through


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(16, 16)

    def forward(self, x):
        return self.linear(x)
