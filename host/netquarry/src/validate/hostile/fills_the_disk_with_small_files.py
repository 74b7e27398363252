# level: forward
# layer: none
# effect: bytes
# passes_through: only processor time limits how many files there are; they are gone when it ends
from torch import nn

for number in range(2000):
    with open(str(number), "w") as file:
        file.write("x")


class Block(nn.Module):
    def forward(self, x):
        return x
