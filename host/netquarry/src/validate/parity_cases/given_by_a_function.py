# parity: passed
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
