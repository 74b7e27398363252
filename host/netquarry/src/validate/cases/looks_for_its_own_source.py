# blocked: torchvision
# level: execute
import importlib.util

from torch import nn

assert importlib.util.find_spec("torchvision") is None


class Block(nn.Module):
    def __init__(self, anything):
        super().__init__()
        raise RuntimeError("no argument will do")
