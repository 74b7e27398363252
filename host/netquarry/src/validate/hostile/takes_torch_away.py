# failure: missing_distribution at construct
# tainted: modules text
# layer: worker
import sys

from torch import nn

for name in [name for name in sys.modules if name.partition(".")[0] in ("torch", "numpy")]:
    del sys.modules[name]


class Block(nn.Module):
    def forward(self, x):
        return x
