# parity: passed
# state: from pack import built_in_a_scope; built_in_a_scope.SCOPES.append("pack")
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width: int = 4):
        super().__init__()
        self.layer = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x)
