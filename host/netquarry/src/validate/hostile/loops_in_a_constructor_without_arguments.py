# failure: cpu_time at construct
# layer: rlimits
# processor_seconds: 1
from torch import nn


class Block(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        while width:
            pass
