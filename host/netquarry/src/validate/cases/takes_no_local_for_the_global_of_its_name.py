# level: forward
# sites: net.py:7 Block(PLAN, width)
# assignments: PLAN = [width, 3]; width = 5
# constructor: plan=[5, 3], width=64
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, plan, width):
        super().__init__()
        if plan != [5, 3]:
            raise ValueError("nobody would guess it")
        if width == 5:
            raise SystemExit("the call does not pass the global one")
        self.layer = nn.Linear(width, width)

    def forward(self, x):
        return self.layer(x)
