# level: construct
# note: in 60 tries; the first try at
"""A check is asked again only where that changes nothing."""

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.passes = self.checks = 0

    def check(self):
        self.checks += 1
        return self.checks

    def forward(self, x):
        if self.passes != self.checks:
            raise RuntimeError("a check was asked again")
        self.passes += 1
        assert self.check() == -1
        return self.layer(x)
