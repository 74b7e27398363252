from torch import nn

ACTIVATIONS = {}
ACTIVATIONS["first"], ACTIVATIONS["second"] = nn.ReLU, nn.GELU


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = ACTIVATIONS["first"]()

    def forward(self, x):
        return self.act(x)
# ---
from torch import nn

ACTIVATIONS = {}
ACTIVATIONS["first"], ACTIVATIONS["second"] = nn.GELU, nn.ReLU


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = ACTIVATIONS["first"]()

    def forward(self, x):
        return self.act(x)
