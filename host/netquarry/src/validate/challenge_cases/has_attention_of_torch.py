# level: backward
# training: same output, same state
# In evaluation torch would run one fused operator, which rounds otherwise than the ones that an export sees.
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(64, 4, dropout=0.0, batch_first=True)

    def forward(self, x):
        return self.layer(x)
