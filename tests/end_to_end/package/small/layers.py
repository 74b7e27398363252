import torch
from torch import nn

from . import functional as SF


class Scale(nn.Module):
    """Multiplies by a learned factor."""

    def __init__(self, factor: float = 1.0):
        super().__init__()
        self.factor = nn.Parameter(torch.tensor(factor))

    def forward(self, x):
        return SF.scale(x, self.factor)


class Block(nn.Module):
    """A residual block around a convolution."""

    def __init__(self, dim: int = 8, kernel_size: int = 3):
        super().__init__()
        self.conv = nn.Conv2d(dim, dim, kernel_size, padding=kernel_size // 2)
        self.norm = nn.BatchNorm2d(dim)
        self.scale = Scale(0.5)

    def forward(self, x):
        return x + self.scale(self.norm(self.conv(x)))
