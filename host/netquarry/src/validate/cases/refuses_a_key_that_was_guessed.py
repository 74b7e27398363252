# level: execute
# note: arguments_not_found: construct: no arguments were found that the constructor takes
from torch import nn

REGISTRY = {}


def look_up_in_registry(key):
    raise KeyError(f"{key!r} is not in the registry")


class Block(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.layer = look_up_in_registry(str(cfg))
