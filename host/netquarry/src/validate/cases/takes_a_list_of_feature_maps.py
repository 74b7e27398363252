# level: forward
# constructor: in_channels=64
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, in_channels):
        super().__init__()
        self.layer = nn.Conv2d(in_channels, in_channels, 1)

    def forward(self, x):
        sizes = []
        for each in x:
            batch, _, height, width = each.shape
            sizes.append(self.layer(each).sum())
        return torch.stack(sizes)
