import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width: int = 4):
        super().__init__()
        self.layer = nn.Linear(width, width)
        self.cache = {}

    def train(self, mode: bool = True):
        super().train(mode)
        self.cache = {}

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x)
