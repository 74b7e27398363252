import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        layers = []
        layers.append(nn.Linear(width, width))
        layers.append(nn.ReLU())
        self.body = nn.Sequential(*layers)

    def forward(self, x):
        return self.body(x)
# ---
import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        layers = []
        layers.append(nn.ReLU())
        layers.append(nn.Linear(width, width))
        self.body = nn.Sequential(*layers)

    def forward(self, x):
        return self.body(x)
