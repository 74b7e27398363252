from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.Sequential(nn.Flatten(2), nn.Linear(width, width), nn.Softmax(2))

    def forward(self, x):
        return self.layers(x)
# ---
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.Sequential(nn.Flatten(2), nn.Linear(width, width), nn.Softmax(3))

    def forward(self, x):
        return self.layers(x)
