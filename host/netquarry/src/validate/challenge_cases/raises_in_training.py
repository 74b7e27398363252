# level: backward
# training: no output, same state
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(16, 16)

    def forward(self, x):
        if self.training:
            raise RuntimeError("this is for inference")
        return self.linear(x)
