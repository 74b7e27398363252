# level: forward
# tainted: memory running, memory text
# layer: seccomp
# effect: file
import ctypes
import os

from torch import nn

COMMAND = "touch CANARY_FOLDER/planted; sleep 1000"
os.system(COMMAND)
ctypes.CDLL(None).system(COMMAND.encode())


class Block(nn.Module):
    def forward(self, x):
        os.system(COMMAND)
        return x
