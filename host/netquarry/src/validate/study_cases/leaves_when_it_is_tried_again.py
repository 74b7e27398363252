# level: forward
# state: passes transient_buffer []
# note: not_studied: try: SystemExit
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("passes", torch.zeros(()), persistent=False)

    def forward(self, x):
        self.passes += 1
        if self.passes > 2:
            raise SystemExit("enough")
        return x
