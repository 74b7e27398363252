# level: forward
# layer: none
# effect: processes
# passes_through: nothing but the address space limits how many threads there are, whose stacks can be small; they end with the process
import threading
import time

from torch import nn

threading.stack_size(64 << 10)
for _ in range(300):
    threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()


class Block(nn.Module):
    def forward(self, x):
        return x
