# level: forward
"""What bundles are used to find where they run: a folder of their own, the null device, randomness, their own source,
threads, clocks and event loops."""
import asyncio
import inspect
import os
import tempfile
import threading
import time

import torch
from torch import nn

with tempfile.TemporaryDirectory() as folder:
    torch.save(torch.zeros(3), os.path.join(folder, "weights.pt"))
    os.rename(os.path.join(folder, "weights.pt"), os.path.join(folder, "kept.pt"))
    torch.load(os.path.join(folder, "kept.pt"))
with open(os.devnull, "w") as nowhere:
    nowhere.write("nothing")
with open("/dev/urandom", "rb") as randomness:
    randomness.read(8)
thread = threading.Thread(target=time.sleep, args=(0.001,))
thread.start()
thread.join()
asyncio.run(asyncio.sleep(0.001))


class Block(nn.Module):
    def forward(self, x):
        assert "def forward" in inspect.getsource(type(self))
        assert os.cpu_count()
        return torch.relu(x)
