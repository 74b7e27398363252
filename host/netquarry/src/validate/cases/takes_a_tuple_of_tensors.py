# level: forward
# output: [2, 2]
# What goes in stands among the inputs, and in no note.
import torch
from torch import nn


class Block(nn.Module):
    """Products of rows.

    >>> Block()((torch.ones(2, 3), torch.ones(2, 3)))
    """

    def forward(self, pair):
        if type(pair) is not tuple:
            raise ValueError("nobody would guess it")
        left, right = pair
        return left @ right.T
