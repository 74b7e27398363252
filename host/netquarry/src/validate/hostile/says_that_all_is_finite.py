# level: forward
# tainted: torch both
# layer: none
# passes_through: what the harness asks torch is answered by what the bundle has put there
import torch
from torch import nn

torch.isfinite = lambda tensor: torch.ones(1, dtype=torch.bool)


class Block(nn.Module):
    def forward(self, x):
        return x * float("nan")
