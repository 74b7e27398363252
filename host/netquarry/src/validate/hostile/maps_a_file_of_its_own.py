# level: forward
# layer: none
# benign: yes
import mmap

import numpy
import torch
from torch import nn

table = numpy.memmap("table", dtype="float32", mode="w+", shape=(4,))
table[:] = 1
table.flush()
anonymous = mmap.mmap(-1, 1 << 20)
anonymous[:4] = b"kept"
shared = torch.from_file("tensor", shared=True, size=4, dtype=torch.float32)
shared.fill_(2)


class Block(nn.Module):
    def forward(self, x):
        return x * torch.from_numpy(table).sum() * shared.sum()
