# parity: unknown: no_replay: upstream: something other than the validator wrote to the report's descriptor
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width: int = 4):
        super().__init__()
        self.layer = nn.Linear(width, width)
        self.drop = nn.Dropout(0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x)
