import os
import time

from torch import nn


class Block(nn.Module):
    def __init__(self, width: int = 4):
        super().__init__()
        with open("unfinished", "w") as file:
            file.write(str(os.getppid()))
        os.rename("unfinished", "end-this-worker")
        time.sleep(60)
