import torch
from torch import nn


class Base(nn.Module):
    def __init__(self, plan):
        super().__init__()
        if plan["mark"] != "q7":
            raise ValueError("that is no plan")
        self.layer = nn.Linear(plan["width"], plan["width"])


class Block(Base):
    def forward(self, x):
        return self.layer(x) * 2


class Other(Base):
    def forward(self, x):
        return self.layer(x)


def block():
    return Block


def other():
    return Other({"mark": "q7", "width": 12})
