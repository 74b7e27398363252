import torch.nn as nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = nn.Linear(width, width)
        self.second = nn.Linear(width, width)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        x = self.drop(self.first(x))
        return x - self.drop(self.second(x))
# ---
import torch.nn as nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = nn.Linear(width, width)
        self.second = nn.Linear(width, width)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        x = self.drop(self.first(x))
        return x - self.drop(self.first(x))
