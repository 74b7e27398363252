import functools

import torch
from torch import nn


class Stem(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Conv2d(3, width, 1)

    def forward(self, x):
        return self.layer(x)


class Block(nn.Module):
    def __init__(self, plan, make_norm, stem, note="none"):
        super().__init__()
        if plan.pop("mark") != "q7":
            raise ValueError("that is no plan")
        self.stem = stem
        self.norm = make_norm(num_channels=plan["widths"][0])
        self.layers = nn.ModuleList(nn.Conv2d(width, width, 1) for width in plan["widths"])

    def forward(self, x, scale=None, windows=None):
        x = self.norm(self.stem(x))
        if scale is not None or x.shape[-1] % windows["side"] or windows["side"] != 8:
            raise ValueError("that is no window")
        for layer in self.layers:
            x = layer(x)
        return x


class Network(nn.Module):
    def __init__(self, depth):
        super().__init__()
        plan = {"mark": "q7", "widths": [8] * depth}
        norm = functools.partial(nn.GroupNorm, 2)
        self.block = Block(plan, norm, stem=Stem(8), note=lambda: "cannot be written")

    def forward(self, x):
        return self.block(x, windows={"side": 8})


def unusable():
    raise RuntimeError("this one needs more than it says")


def network(pretrained=False):
    if pretrained:
        raise RuntimeError("there is nothing to download")
    return unusable_or(depth=2)


def unusable_or(depth):
    return Network(depth)
