# level: forward
# constructor: act_layer=torch.nn.ReLU, width=64
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width, act_layer=None):
        super().__init__()
        self.layer = nn.Linear(width, width)
        self.act = act_layer()

    def forward(self, x):
        return self.act(self.layer(x))
