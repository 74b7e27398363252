# level: backward
# replayed: 4
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(16, dtype=torch.complex64))

    def forward(self, x: torch.Tensor):
        return torch.fft.ifft(torch.fft.fft(x) * self.scale) * 2j
