# level: backward
# state: scale parameter [64], twin parameter [64] as scale, table transient_buffer [64]
# dtypes: float64 float64, bfloat16 float32
# other device: raises
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(64))
        self.twin = self.scale
        self.register_buffer("table", torch.ones(64), persistent=False)

    def forward(self, x: torch.Tensor):
        batch, length, width = x.shape
        return x * self.scale * self.table + torch.arange(64, dtype=torch.float32).add(0.5)
