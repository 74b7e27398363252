# level: forward
# tainted: exit text
# layer: worker
# effect: file
import atexit
import os
import weakref

from torch import nn


def write(*_):
    os._exit(3)


class Late:
    def __del__(self):
        write()


class Block(nn.Module):
    def forward(self, x):
        return x


late = Late()
atexit.register(write)
weakref.finalize(Block, write)
