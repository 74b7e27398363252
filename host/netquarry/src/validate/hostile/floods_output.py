# level: execute
# layer: host
import sys

from torch import nn

for _ in range(200):
    print("x" * 100_000)
    sys.stderr.write("y" * 100_000)


class Block(nn.Module):
    def __init__(self, anything):
        super().__init__()
        raise RuntimeError("no argument will do")
