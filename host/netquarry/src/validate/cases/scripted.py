# level: forward
import inspect

import torch


@torch.jit.script
def double(x: torch.Tensor) -> torch.Tensor:
    return x * 2


class Block(torch.nn.Module):
    def forward(self, x):
        assert "return double(x)" in inspect.getsource(type(self))
        return double(x)
