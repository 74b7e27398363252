# blocked: torchvision
# level: forward
# Packages ask for the versions of what they need while they are imported; a source of the bundle is not installed.
from importlib.metadata import PackageNotFoundError, version

from torch import nn

TORCH = version("torch")

try:
    version("torchvision")
except PackageNotFoundError:
    pass
else:
    raise RuntimeError("the metadata of the bundle's own source is within reach")


class Block(nn.Module):
    def forward(self, x):
        assert TORCH
        return x
