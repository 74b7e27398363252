from torch import nn

from small import Scale


class Block(nn.Module):
    """A copy of the block in models, under another docstring."""

    def __init__(self, in_features: int = 16, hidden: int = 32):
        super().__init__()
        self.expand = nn.Linear(in_features, hidden)
        self.act = nn.GELU()
        self.project = nn.Linear(hidden, in_features)
        self.scale = Scale()

    def forward(self, x):
        return self.scale(self.project(self.act(self.expand(x))))
