# level: backward
# replayed: 2
# gradient: 1 of 1
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(16, 16, bias=False)
        self.second = nn.Linear(16, 16, bias=False)
        self.second.weight = self.first.weight

    def forward(self, x):
        return self.second(self.first(x))
