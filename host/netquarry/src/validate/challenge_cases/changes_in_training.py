# level: backward
# training: other output, other state
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(16, 16)
        self.normalisation = nn.BatchNorm1d(16)
        self.dropout = nn.Dropout(0.5)

    def forward(self, x):
        return self.dropout(self.normalisation(self.linear(x)))
