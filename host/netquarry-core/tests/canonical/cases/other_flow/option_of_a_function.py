import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    def forward(self, x):
        return F.gelu(x)
# ---
import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    def forward(self, x):
        return F.gelu(x, approximate="tanh")
