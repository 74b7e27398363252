# level: forward
# layer: none
# passes_through: Landlock does not cover `stat`: that a file is there, and how large it is, is no secret
import os

from torch import nn

size = os.stat("CANARY_FOLDER/secret").st_size


class Block(nn.Module):
    def forward(self, x):
        return x[..., :size]
