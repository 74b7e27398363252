# level: backward
# tainted: torch both
# layer: none
# passes_through: what makes gradients is for Python to change, and the harness asks for them in the same Python
import torch
from torch import nn


def backward(*_, **__):
    for parameter in Block.made.parameters():
        parameter.grad = torch.zeros_like(parameter)


torch.Tensor.backward = backward


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        Block.made = self

    def forward(self, x):
        return self.linear.weight * 1
