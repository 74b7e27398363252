import torch.nn as nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.layer = nn.Linear(width, width)

    def forward(self, x):
        return x + self.layer(self.norm(x))
# ---
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.project = nn.Linear(width, width)
        self.normalise = nn.LayerNorm(width)

    def forward(self, x):
        y = self.normalise(x)
        y = self.project(y)
        return x + y
