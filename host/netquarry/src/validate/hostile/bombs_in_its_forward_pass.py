# level: construct
# note: arguments_not_found: forward
# layer: rlimits
import torch
from torch import nn


class Block(nn.Module):
    def forward(self, x):
        return torch.cat([x.expand(1 << 30, *x.shape)] * 2)
