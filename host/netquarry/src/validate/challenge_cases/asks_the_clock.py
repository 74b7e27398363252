# level: backward
# challenge: differs
# note: not_replayed: not_deterministic: two processes do not answer the same
import time

from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(16, 16)

    def forward(self, x):
        return self.linear(x) + time.time_ns() % 1_000_003
