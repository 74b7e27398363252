# level: forward
# constructor: settings=Settings(width=64, inner=Inner(heads=4))
import torch
from torch import nn


class Inner:
    def __init__(self, heads):
        self.heads = heads


class Settings:
    def __init__(self, width, inner: Inner):
        self.width, self.inner = width, inner


class Block(nn.Module):
    def __init__(self, settings: Settings):
        super().__init__()
        self.layer = nn.MultiheadAttention(settings.width, settings.inner.heads, batch_first=True)

    def forward(self, x):
        return self.layer(x, x, x)[0]
