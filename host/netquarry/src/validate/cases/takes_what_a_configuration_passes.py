# level: forward
# sites: configs/net.py:2 dict(type="Block", plan=dict(widths=(3, 5), deep=True)); other.py:4 Block()
# naming: type
# constructor: plan=dict(widths=(3, 5), deep=True)
# note: call_site_arguments: configs/net.py:2
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, plan):
        super().__init__()
        if plan["deep"] is not True:
            raise ValueError("nobody would guess it")
        self.layer = nn.Linear(sum(plan["widths"]), sum(plan["widths"]))

    def forward(self, x):
        return self.layer(x)
