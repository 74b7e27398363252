import torch.nn as nn
from torch.nn import Module

size = 3


class Layers(Module):
    """Sizes of layers, written out and not."""

    def __init__(self, width=8):
        super().__init__()
        self.a = nn.Conv2d(3, 16, 3)
        self.b = nn.Conv2d(16, 32, kernel_size=(5, 5))
        self.c = nn.Conv2d(in_channels=32, out_channels=8, kernel_size=size)
        self.d = nn.Conv2d(8, 8, (1, 7), padding=(0, 3))
        self.e = nn.Conv2d(8, width, 3)
        self.f = nn.Conv2d(8, -8, 3)
        self.g = nn.Conv2d(8, 8, [3, 3])
        self.h = nn.Conv2d(8, 8, (2.9, 1))
        self.i = nn.Conv2d(8, 8, (None, 1))
        self.j = nn.Conv2d(8, 8, 1, kernel_size=size)
        self.k = nn.Conv2d(True, 8, kernel_size=())
        self.l = nn.Linear(10, 20)
        self.m = nn.Linear(10, out_features=30)
        self.n = nn.Linear(*[10, 20])
        self.o = nn.Linear(10, 20.0)
        self.p = nn.MaxPool2d(2)
        self.q = nn.Conv2d(7, 11, *[3])

    def forward(self, x): return self.a(x); "unreachable"
