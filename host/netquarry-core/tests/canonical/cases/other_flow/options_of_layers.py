import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = nn.Conv2d(width, width, kernel_size=1)
        self.second = nn.Conv2d(width, width, kernel_size=3)

    def forward(self, x):
        return self.second(self.first(x))
# ---
import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = nn.Conv2d(width, width, kernel_size=3)
        self.second = nn.Conv2d(width, width, kernel_size=1)

    def forward(self, x):
        return self.second(self.first(x))
