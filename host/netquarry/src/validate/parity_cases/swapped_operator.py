# parity: failed: output as a whole (float32 [2, 64, 4]): 512 of 512 values differ, at most by
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width: int = 4):
        super().__init__()
        self.layer = nn.Linear(width, width)
        self.drop = nn.Dropout(0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x) - 1
