# failure: runtime_error at execute
# message: [Errno 28] No space left on device
# layer: private-scratch
# without_layer: level: forward
# effect: bytes
# processor_seconds: 20
from torch import nn

for number in range(4500):
    with open(str(number), "w") as file:
        file.write("x")


class Block(nn.Module):
    def forward(self, x):
        return x
