import torch.nn as nn


class Block(nn.Module):
    def __init__(self, width, init_cfg=None):
        super().__init__()
        self.layer = nn.Linear(width, width)

    def forward(self, x):
        return self.layer(x)
# ---
import torch.nn as nn


class Block(nn.Module):
    def __init__(self, width, init_cfg=dict(type="Xavier")):
        super().__init__()
        self.layer = nn.Linear(width, width)

    def forward(self, x):
        return self.layer(x)
