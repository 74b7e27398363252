# level: forward
# layer: host
# effect: bytes
from torch import nn

for name in (b"\xff\xfe", b"two\nlines", b"-rf", b"\x1b[2J", b"x" * 255):
    open(name, "w").close()


class Block(nn.Module):
    def forward(self, x):
        return x
