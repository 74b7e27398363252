# parity: unknown: not_deterministic: the bundle differs from itself in output as a whole
import os

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width: int = 4):
        super().__init__()
        self.layer = nn.Linear(width, width)
        self.drop = nn.Dropout(0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x) + os.urandom(1)[0] + os.urandom(8)[7] / 256
