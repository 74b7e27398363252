# level: forward
# tainted: exit text, modules running
# layer: worker
# effect: worker
"""The child goes back into the loop of the process that it was forked from."""
import os

from torch import nn

os._exit = lambda status: None


class Block(nn.Module):
    def forward(self, x):
        return x
