from torch import nn

from small import Scale


class Block(nn.Module):
    """Another block of the same name."""

    def __init__(self, in_features: int = 16, hidden: int = 32):
        super().__init__()
        self.expand = nn.Linear(in_features, hidden)
        self.act = nn.GELU()
        self.project = nn.Linear(hidden, in_features)
        self.scale = Scale()

    def forward(self, x):
        return self.scale(self.project(self.act(self.expand(x))))


class Net(nn.Module):
    def __init__(self, depth: int = 2, in_features: int = 16):
        super().__init__()
        self.blocks = nn.Sequential(*[Block(in_features) for _ in range(depth)])

    def forward(self, x):
        return self.blocks(x)
