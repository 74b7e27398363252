# level: backward
# note: not_replayed: export: GuardOnDataDependentSymNode
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(16, 16)

    def forward(self, x):
        return self.linear(x) if x.sum() > 0 else -self.linear(x)
