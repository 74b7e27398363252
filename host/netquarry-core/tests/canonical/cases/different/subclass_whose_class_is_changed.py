from torch import nn


class Base(nn.Module):
    scale = 1

    def forward(self, x):
        return x * self.scale


class Block(Base):
    pass


Block.scale = 0
# ---
from torch import nn


class Base(nn.Module):
    scale = 1

    def forward(self, x):
        return x * self.scale


class Block(Base):
    pass
