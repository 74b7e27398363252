# level: forward
"""numpy imports what draws numbers where it is used first. It starts from a fixed state all the same, and looks as if nobody
had seen to that."""
import numpy
import torch
from torch import nn

assert numpy.random.rand() == numpy.random.RandomState(0).rand()
assert numpy.random.__spec__.loader is numpy.random.__loader__
assert type(numpy.random.__loader__).__module__ == type(numpy.__loader__).__module__


class Block(nn.Module):
    def forward(self, x):
        return x + float(numpy.random.rand())
