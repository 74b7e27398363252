# level: forward
# layer: none
# benign: yes
import logging
import sys
import warnings

from torch import nn

logging.basicConfig(level=logging.DEBUG)
logging.getLogger(__name__).warning("for your information")
warnings.warn("this will be removed")
print("loading", file=sys.stderr, flush=True)


class Block(nn.Module):
    def forward(self, x):
        print(x.shape)
        return x
