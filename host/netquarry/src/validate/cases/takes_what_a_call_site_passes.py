# level: forward
# sites: other.py:3 Block(40, depth=12); net.py:7 Block(40, depth=11)
# constructor: depth=11, width=40
# note: call_site_arguments: net.py:7
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        if width * 7 + depth != 291:
            raise ValueError("nobody would guess it")
        self.layer = nn.Linear(width, width)

    def forward(self, x):
        return self.layer(x)
