# level: backward
# challenge: none
# note: not_challenged: forward: AssertionError: never seen
# Whatever is seeded as the first pass is gives this input; a number that is told later gives another.
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(16, 16)
        self.seen = None

    def forward(self, x):
        generator = torch.Generator().manual_seed(0)
        assert torch.equal(x, torch.randn(x.shape, generator=generator)), "never seen"
        return self.linear(x)
