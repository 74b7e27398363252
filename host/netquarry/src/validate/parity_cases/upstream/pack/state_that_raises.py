import torch
from torch import nn

SCOPES = []


class Block(nn.Module):
    def __init__(self, width: int = 4):
        super().__init__()
        if not SCOPES:
            raise KeyError("nobody has said in whose scope this is built")
        self.layer = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x)
