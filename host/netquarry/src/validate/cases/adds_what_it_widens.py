# level: forward
# constructor: inplanes=256, planes=64
# output: [2, 256, 32, 32]
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, inplanes, planes):
        super().__init__()
        self.first = nn.Conv2d(inplanes, planes, 1)
        self.second = nn.Conv2d(planes, planes * 4, 1)

    def forward(self, x):
        return self.second(self.first(x)) + x
