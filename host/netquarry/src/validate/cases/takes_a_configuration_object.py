# level: forward
# constructor: config=types.SimpleNamespace(hidden_size=64, layer_norm_eps=1e-05)
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)

    def forward(self, x):
        return self.norm(x)
