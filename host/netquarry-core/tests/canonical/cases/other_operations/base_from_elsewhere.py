import torch.nn as nn


class Block(nn.LSTM):
    def extra_repr(self):
        return "own"
# ---
import torch.nn as nn


class Block(nn.GRU):
    def extra_repr(self):
        return "own"
