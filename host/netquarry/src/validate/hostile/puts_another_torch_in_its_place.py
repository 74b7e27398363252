# failure: api_drift at construct
# tainted: modules text
# layer: worker
import sys
import types

from torch import nn


class Block(nn.Module):
    def forward(self, x):
        return x


sys.modules["torch"] = types.ModuleType("torch")
