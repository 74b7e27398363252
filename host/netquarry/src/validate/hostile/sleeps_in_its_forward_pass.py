# level: construct
# note: arguments_not_found: forward: wall_time with guessed arguments
# layer: host
# seconds: 3
import time

from torch import nn


class Block(nn.Module):
    def forward(self, x):
        time.sleep(1000)
        return x
