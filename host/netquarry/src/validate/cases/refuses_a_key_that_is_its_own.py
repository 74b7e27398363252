# failure: registry_key at construct
from torch import nn


def look_up_in_registry(key):
    raise KeyError(f"{key!r} is not in the registry")


class Block(nn.Module):
    def __init__(self, cfg="absent"):
        super().__init__()
        self.layer = look_up_in_registry(cfg)
