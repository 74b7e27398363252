# failure: runtime_error at execute
# message: [Errno 28] No space left on device
# layer: private-scratch
# without_layer: level: forward
# effect: bytes
# processor_seconds: 20
"""Names take no bytes of a file system in memory, and memory of the kernel."""
import os

from torch import nn

open("file", "w").close()
for number in range(2250):
    os.symlink("nowhere", f"symbolic-{number}")
    os.link("file", f"hard-{number}")


class Block(nn.Module):
    def forward(self, x):
        return x
