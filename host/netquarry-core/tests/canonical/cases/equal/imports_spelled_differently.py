import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    def forward(self, x):
        return F.relu(x)
# ---
import torch
from torch.nn import Module as Base


class Block(Base):
    def forward(self, x):
        from torch.nn import functional

        return functional.relu(x)
