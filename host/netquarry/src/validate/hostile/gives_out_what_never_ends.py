# level: construct
# note: arguments_not_found: forward: cpu_time with guessed arguments
# layer: rlimits
# processor_seconds: 1
from torch import nn


class Endless(list):
    def __iter__(self):
        while True:
            yield self[0]


class Block(nn.Module):
    def forward(self, x):
        return Endless([x])
