# level: forward
# constructor: plan=[3, 11]
# note: call_site_arguments: the docstring of Block
# output: [2, 11]
import torch
from torch import nn


class Block(nn.Module):
    """A layer that is planned.

    Examples:
        >>> nn.Sequential(Block([1, 2]))(torch.zeros(3))
        >>> Block([3, 11])(torch.randn(2, 3), {"scale": 2.0}).shape
        torch.Size([2, 11])
    """

    def __init__(self, plan):
        super().__init__()
        if sum(plan) != 14:
            raise ValueError("nobody would guess it")
        self.layer = nn.Linear(*plan)

    def forward(self, x, options):
        return self.layer(x) * options["scale"]
