# level: construct
# note: arguments_not_found: forward: the block has no forward method
from torch import nn


class Block(nn.Module):
    def __init__(self, size=8):
        self.size = size

    def __call__(self, x):
        return x[..., : self.size]
