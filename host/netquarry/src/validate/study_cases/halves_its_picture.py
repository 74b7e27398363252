# level: backward
# state: conv.weight parameter [8, 3, 3, 3], norm.weight parameter [8], norm.bias parameter [8], norm.running_mean buffer [8], norm.running_var buffer [8], norm.num_batches_tracked buffer []
# submodules: Block, conv torch.nn.Conv2d(bias=False dilation=(1, 1) in_channels=3 kernel_size=(3, 3) out_channels=8 padding=(1, 1) stride=(2, 2)), norm torch.nn.BatchNorm2d(num_features=8)
# trials: batch 1 [1, 8, 16, 16]; batch 3 [3, 8, 16, 16]; grid 64x64 [2, 8, 32, 32]; grid 33x33 [2, 8, 17, 17]; axis 6 raises
# batch: independent
# dtypes: float64 float64, bfloat16 bfloat16
# other device: works
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, stride=2, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(8)

    def forward(self, x):
        return self.norm(self.conv(x))
