# parity: failed: state `layer.bias` (float32 [4]): 4 of 4 values differ
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width: int = 4):
        super().__init__()
        self.layer = nn.Linear(width, width)
        self.drop = nn.Dropout(0.5)
        nn.init.ones_(self.layer.bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x["a"]["b"])
