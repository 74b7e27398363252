# failure: crash at execute
# message: SIGBUS
# layer: private-scratch
# without_layer: level: forward
# effect: bytes
"""Files with holes take nothing until somebody writes to the memory that they are mapped to."""
import mmap

from torch import nn

for name in ("one", "another"):
    with open(name, "w+b") as file:
        file.truncate(60 << 20)
        memory = mmap.mmap(file.fileno(), 0)
    for page in range(0, len(memory), mmap.PAGESIZE):
        memory[page] = 1
    memory.close()


class Block(nn.Module):
    def forward(self, x):
        return x
