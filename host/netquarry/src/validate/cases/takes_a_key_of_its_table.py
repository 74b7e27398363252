# level: forward
# constructor: depth=18
import torch
from torch import nn


class Block(nn.Module):
    settings = {18: 8, 34: 16}

    def __init__(self, depth):
        super().__init__()
        if depth not in self.settings:
            raise KeyError(f"no settings for {depth}")
        self.layer = nn.Conv2d(3, self.settings[depth], 3)

    def forward(self, x):
        return self.layer(x)
