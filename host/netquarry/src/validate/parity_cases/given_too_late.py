# parity: unknown
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, plan):
        super().__init__()
        if plan["mark"] != "q7":
            raise ValueError("that is no plan")
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        return self.layer(x)
