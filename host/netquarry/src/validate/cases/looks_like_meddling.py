# level: forward
import collections
import dataclasses
import enum
import functools
import inspect
import logging
import sys
import typing
import warnings

import torch
from torch import nn

Sizes = collections.namedtuple("Sizes", "channels kernel")
Pair = typing.NamedTuple("Pair", [("left", int), ("right", int)])
Mode = enum.Enum("Mode", "PLAIN GATED")
own = sys.modules[__name__]
setattr(own, "alias", Sizes)


@dataclasses.dataclass
class Configuration:
    channels: int = 4
    mode: Mode = Mode.PLAIN


class Protocol(typing.Protocol):
    def forward(self, x): ...


@functools.lru_cache(maxsize=None)
def scaled(size: int) -> float:
    logging.getLogger("block").warning("a caller is looked up for this")
    return 1 / size


@torch.jit.script
def halved(x):
    return x / 2


@torch.no_grad()
def started(module: nn.Module):
    for parameter in module.parameters():
        parameter.fill_(0.5)


class Block(nn.Module):
    def __init__(self, channels: int = 4):
        super().__init__()
        warnings.warn("this is old", stacklevel=2)
        self.linear = nn.Linear(channels, channels)
        self.linear.apply(started)
        self.linear.register_forward_hook(lambda module, inputs, output: output * scaled(2))
        self.linear.register_full_backward_hook(lambda module, inputs, outputs: None)
        self.names = list(inspect.signature(self.forward).parameters)
        self.source = inspect.getsource(type(self))
        self.configuration = Configuration(channels)
        self.part = functools.partial(torch.relu)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        torch.backends.cudnn.benchmark = False
        copy = functools.reduce(torch.add, [x, x])
        return self.part(halved(self.linear(copy)))
