# level: construct
# or: failure: memory at forward
# note: arguments_not_found: forward
# layer: rlimits
# effect: processes
import torch
from torch import nn

torch.set_num_threads(1 << 20)


class Block(nn.Module):
    def forward(self, x):
        return x.repeat(64, 1, 1, 1).exp()
