# level: backward
# replayed: 1
# training: same output, same state
# flops: 1179648
# gradient: 2 of 2
# Two pictures of 32 x 32, 16 channels in and 2 out, of kernels of 3 x 3.
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution = nn.Conv2d(16, 2, 3, padding=1)

    def forward(self, x):
        return self.convolution(x)
