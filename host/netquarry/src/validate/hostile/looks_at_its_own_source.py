# level: forward
# layer: none
# benign: yes
import ast
import importlib.util
import inspect

import torch
from torch import nn


class Block(nn.Module):
    def forward(self, x):
        return torch.relu(x)


assert "torch.relu" in inspect.getsource(Block)
assert ast.parse(open(__file__).read())
assert importlib.util.find_spec("numpy").origin
