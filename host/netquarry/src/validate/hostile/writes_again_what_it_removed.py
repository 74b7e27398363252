# level: forward
# layer: none
# benign: yes
"""What is removed takes no room, however often it was written."""
import os

from torch import nn

for _ in range(4):
    with open("large", "wb") as file:
        for _ in range(40):
            file.write(bytes(1 << 20))
    os.unlink("large")
for _ in range(6):
    for number in range(1000):
        open(str(number), "w").close()
    for number in range(1000):
        os.unlink(str(number))


class Block(nn.Module):
    def forward(self, x):
        return x
