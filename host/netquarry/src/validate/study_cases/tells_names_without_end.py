# level: forward
# state: nothing
# Whoever makes up names of a megabyte does not get them into the record.
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("x" * 1000, torch.zeros(()))

    def forward(self, x):
        return x
