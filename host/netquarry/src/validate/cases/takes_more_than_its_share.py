# level: forward
"""Needs more memory than a child starts with where many run at once."""
import torch


class Block(torch.nn.Module):
    def __init__(self, rows=30_000_000):
        super().__init__()
        self.register_buffer("table", torch.ones(rows))

    def forward(self, x: torch.Tensor):
        return x + self.table[0]
