# level: forward
# constructor: in_channels=64, out_channels=64
# output: [2, 64, 32, 32]
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, in_channels: int, out_channels: int, kernel_size=3):
        super().__init__()
        self.convolution = nn.Conv2d(in_channels, out_channels, kernel_size, padding=kernel_size // 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.convolution(x)
