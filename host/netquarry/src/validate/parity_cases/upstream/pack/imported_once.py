import time

import torch
from torch import nn

IMPORTED = time.time()


class Block(nn.Module):
    def __init__(self, width: int = 4):
        super().__init__()
        self.register_buffer("imported", torch.tensor(IMPORTED, dtype=torch.float64))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x
