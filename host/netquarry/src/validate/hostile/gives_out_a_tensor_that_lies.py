# level: forward
# layer: none
# passes_through: a tensor of a class of its own answers for itself, whether it is finite too
import torch
from torch import nn


class Liar(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, arguments=(), named=None):
        if function in (torch.isfinite, torch.isnan):
            return torch.ones(1, dtype=torch.bool)
        if function in (torch.Tensor.all, torch.all):
            return True
        with torch._C.DisableTorchFunctionSubclass():
            return function(*arguments, **(named or {}))


class Block(nn.Module):
    def forward(self, x):
        return (x * float("nan")).as_subclass(Liar)
