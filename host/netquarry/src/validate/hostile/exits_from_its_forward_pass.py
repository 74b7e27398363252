# failure: process_state at forward
# message: SystemExit: 0
# layer: worker
import sys

from torch import nn


class Block(nn.Module):
    def forward(self, x):
        sys.exit(0)
