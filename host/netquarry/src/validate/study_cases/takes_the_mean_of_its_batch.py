# level: forward
# state: none
# submodules: Block
# batch: dependent
# other device: works
from torch import nn


class Block(nn.Module):
    def forward(self, x):
        return x - x.mean(0, keepdim=True)
