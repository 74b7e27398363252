# level: forward
# constructor: kind='narrow', width=64
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width, kind):
        super().__init__()
        if kind not in ("narrow", "wide"):
            raise ValueError("no such kind")
        self.layer = nn.Linear(width, width)

    def forward(self, x):
        return self.layer(x)
