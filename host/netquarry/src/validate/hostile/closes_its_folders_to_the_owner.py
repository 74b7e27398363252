# level: forward
# layer: host
# effect: bytes
import os

from torch import nn

os.mkdir("closed")
open("closed/left", "w").close()
os.mkdir("closed/empty", 0)
os.umask(0o777)
os.mkdir("shut")


class Block(nn.Module):
    def forward(self, x):
        return x
