# level: construct
# note: arguments_not_found: forward: no forward pass had an output to go by: the output itself is not finite
from torch import nn


class Block(nn.Module):
    def forward(self, x):
        return x / (x - x)
