# level: construct
# note: arguments_not_found: forward: crash with guessed arguments: the process was ended by SIGSEGV
# tainted: memory both
# layer: worker
# effect: worker
import ctypes

from torch import nn


class Block(nn.Module):
    def forward(self, x):
        ctypes.string_at(8)
