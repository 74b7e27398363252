# level: backward
# replayed: 5
# training: other output, other state
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(16, 16)
        self.register_buffer("passes", torch.zeros((), dtype=torch.long))

    def forward(self, x):
        self.passes += 1
        return {"output": self.linear(x) * self.passes, "nothing": None, "index": torch.arange(4)}
