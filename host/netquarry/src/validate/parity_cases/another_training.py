# parity: failed: training as a whole (float32 [2, 64, 4]): 512 of 512 values differ, at most by 1.0
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width: int = 4):
        super().__init__()
        self.layer = nn.Linear(width, width)
        self.drop = nn.Dropout(0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + 1 if self.training else x
