# parity: failed: state `a`: it is float32 [1], upstream it is float64 [1]
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width: int = 4):
        super().__init__()
        self.layer = nn.Linear(width, width)
        self.drop = nn.Dropout(0.5)
        self.a = nn.Parameter(torch.ones(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x)
