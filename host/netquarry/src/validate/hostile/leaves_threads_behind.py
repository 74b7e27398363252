# level: forward
# layer: worker
# effect: processes
import threading
import time

from torch import nn

for _ in range(4):
    threading.Thread(target=time.sleep, args=(1000,)).start()


class Block(nn.Module):
    def forward(self, x):
        return x
