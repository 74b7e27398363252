# level: backward
# gradient: 2 of 4
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.used = nn.Linear(16, 16)
        self.unused = nn.Linear(16, 16)

    def forward(self, x):
        return self.used(x)
