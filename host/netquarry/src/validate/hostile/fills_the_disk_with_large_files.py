# failure: runtime_error at execute
# message: [Errno 28] No space left on device
# layer: private-scratch
# without_layer: level: forward
# effect: bytes
"""Each file may be as large, and not all of them together."""
import os

from torch import nn

for number in range(3):
    with open(str(number), "wb") as file:
        os.posix_fallocate(file.fileno(), 0, 60 << 20)


class Block(nn.Module):
    def forward(self, x):
        return x
