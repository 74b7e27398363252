"""Blocks that do not come far, each in a way of its own."""

import no_such_distribution
from torch import nn


class NeedsDistribution(nn.Module):
    width = no_such_distribution.WIDTH

    def forward(self, x):
        return x * self.width


class NeedsName(nn.Module):
    width = width_that_nobody_binds

    def forward(self, x):
        return x * self.width


class NeedsArguments(nn.Module):
    def __init__(self, widths):
        super().__init__()
        self.first, self.second = widths["first"], widths["second"]

    def forward(self, x):
        return x * self.first + self.second
