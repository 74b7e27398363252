# parity: failed: trained state `norm.running_mean` (float32 [4]): 4 of 4 values differ
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width: int = 4):
        super().__init__()
        self.norm = nn.BatchNorm1d(width, momentum=0.2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(x)
