# level: forward
# sites: net.py:7 Block((16, 48)[next(iter(range(1, 2)))], len("four") * 2, act=functools.partial(nn.LeakyReLU, (1 + 2) / 10), width=max(8, 2), plan=dict(deep=not []), pads=[0] * 64)
# constructor: act=functools.partial(torch.nn.LeakyReLU, 0.3), channels=48, heads=8, pads=[0] * 64, plan=dict(deep=not []), width=max(8, 2)
import functools

import torch
from torch import nn


def max(first, second):
    """Not what Python calls so."""
    return 2 * (first if first > second else second)


class Block(nn.Module):
    def __init__(self, channels, heads, act, width, plan, pads):
        super().__init__()
        assert channels == 48 and heads == 8 and width == 16 and plan["deep"] and len(pads) == 64
        self.layer = nn.Linear(channels, width)
        self.act = act()

    def forward(self, x):
        return self.act(self.layer(x))
