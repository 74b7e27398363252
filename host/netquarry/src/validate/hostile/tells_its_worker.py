# level: forward
# layer: none
# benign: yes
"""The shape of what comes out is the number of the process that runs bundles."""
import os

import torch
from torch import nn


class Block(nn.Module):
    def forward(self):
        return torch.zeros(1).expand(os.getppid())
