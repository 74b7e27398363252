# level: forward
# output: [2, 3, 30, 30]
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Conv2d(3, 3, 1)

    def forward(self, x):
        batch, channels, height, width = x.shape
        x = self.layer(x)
        windows = x.view(batch, channels, height // 5, 5, width // 5, 5).mean((3, 5), keepdim=True)
        return windows.expand(-1, -1, -1, 5, -1, 5).reshape(batch, channels, height, width)
