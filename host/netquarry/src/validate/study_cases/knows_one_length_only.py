# level: backward
# state: positions parameter [1, 64, 64], norm.weight parameter [64], norm.bias parameter [64]
# trials: batch 1 [1, 64, 64]; batch 3 [3, 64, 64]; axis 128 raises; axis 128 raises; axes 128x128 raises
# dtypes: float64 float64, bfloat16 bfloat16
# other device: works
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.positions = nn.Parameter(torch.zeros(1, 64, 64))
        self.norm = nn.LayerNorm(64)

    def forward(self, x):
        # Of tokens.
        batch, length, width = x.shape
        return self.norm(x + self.positions)
