import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, width, init_cfg=None):
        super().__init__(init_cfg=init_cfg)
        self.layer = nn.Linear(width, width)

    def forward(self, x):
        return self.layer(x)
# ---
import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)

    def forward(self, x):
        return self.layer(x)
