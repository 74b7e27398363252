# level: forward
# sites: net.py:7 Block(4096)
# constructor: width=64
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        if not width:
            raise ValueError("nobody would guess it")
        self.layer = nn.Linear(width, width)

    def forward(self, x):
        return self.layer(x)
