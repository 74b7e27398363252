# level: forward
# sites: net.py:7 Block(width, act=nn.GELU, plan=[3, 2 * 5], seed=seed)
# constructor: act=torch.nn.GELU, plan=[3, 10], width=64
# note: call_site_arguments: net.py:7
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width, act, plan=(), seed=None):
        super().__init__()
        if act is not nn.GELU or sum(plan) != 13 or seed is not None:
            raise ValueError("nobody would guess it")
        self.layer = nn.Linear(width, width)

    def forward(self, x):
        return self.layer(x)
