# level: forward
# constructor: dim=64
# output: [2, 64, 64]
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.layer = nn.Conv2d(dim, dim, 3, padding=1)

    def forward(self, x, hw_shape):
        batch, tokens, width = x.shape
        height, breadth = hw_shape
        x = x.transpose(1, 2).view(batch, width, height, breadth)
        return self.layer(x).flatten(2).transpose(1, 2)
