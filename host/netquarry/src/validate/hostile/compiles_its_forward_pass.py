# level: forward
# layer: none
# benign: yes
import torch
from torch import nn


@torch.jit.script
def gate(x: torch.Tensor):
    return x * torch.sigmoid(x)


class Block(nn.Module):
    def forward(self, x):
        return gate(x)


torch.jit.save(torch.jit.trace(Block(), torch.ones(1, 3)), "traced.pt")
