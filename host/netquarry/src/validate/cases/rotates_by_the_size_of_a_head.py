# level: forward
# constructor: dim=64, head_dim=16, num_heads=4
# output: [2, 16, 64]
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, dim, num_heads, head_dim):
        super().__init__()
        self.heads, self.head_dim = num_heads, head_dim
        self.norm = nn.LayerNorm(dim)

    def forward(self, x, cosine, sine):
        batch, tokens, width = x.shape
        x = self.norm(x).view(batch, tokens, self.heads, self.head_dim)
        cosine, _ = cosine.split([8, 8], dim=-1)
        sine, _ = sine.split([8, 8], dim=-1)
        first, second = x.split([8, 8], dim=-1)
        cosine, sine = cosine[:, :, None], sine[:, :, None]
        turned = torch.cat([first * cosine - second * sine, first * sine + second * cosine], dim=-1)
        return turned.reshape(batch, tokens, width)
