# level: backward
# note: not_replayed: other_output: what was exported gives another output than the block
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(16, 16)

    def forward(self, x):
        output = self.linear(x)
        return output * 2 if torch.compiler.is_exporting() else output
