# level: construct
# note: arguments_not_found: forward: no_report with guessed arguments
# tainted: exit text
# layer: host
import os

from torch import nn


class Block(nn.Module):
    def forward(self, x):
        os._exit(0)
