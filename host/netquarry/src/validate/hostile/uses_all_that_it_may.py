# level: forward
# layer: none
# benign: yes
"""A hundred mebibytes of memory, a file of some, and half of its descriptors."""
import torch
from torch import nn

files = [open("/dev/null") for _ in range(100)]
with open("large", "wb") as file:
    file.truncate(32 << 20)


class Block(nn.Module):
    def forward(self, x):
        return x + torch.ones(25 << 20).sum()
