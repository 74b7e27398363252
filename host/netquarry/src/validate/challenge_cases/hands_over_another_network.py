# level: backward
# replayed: 1
# tainted: modules running, modules text
# passes_through: what is handed over is the word of the process that the bundle runs in
# It has the validator answer with, and export, another network than its own.
import sys

from torch import nn

challenge = sys.modules["netquarry_worker.challenge"]
model_of = challenge.model_of


class Other(nn.Module):
    def forward(self, x):
        return x.sin()


def another_model_of(*arguments):
    _, number = model_of(*arguments)
    return Other(), number


challenge.model_of = another_model_of


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(16, 16)

    def forward(self, x):
        return self.linear(x)
