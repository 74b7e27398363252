# level: forward
# layer: none
# effect: bytes
# passes_through: each file is limited, and not all of them together; they are gone when it ends
import os

from torch import nn

for number in range(3):
    with open(str(number), "wb") as file:
        os.posix_fallocate(file.fileno(), 0, 60 << 20)


class Block(nn.Module):
    def forward(self, x):
        return x
