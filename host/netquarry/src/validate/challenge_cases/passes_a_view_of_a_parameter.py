# level: backward
# replayed: 4
# training: same output, same state
# flops: 8192
# gradient: 3 of 3
# A linear layer of 64 to 32 features meets a view of a parameter, which without gradients has nothing that made it.
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.query = nn.Parameter(torch.ones(1, 64))
        self.linear = nn.Linear(64, 32)

    def forward(self, x: torch.Tensor):
        return self.linear(self.query.expand(len(x), -1)) * x.mean()
