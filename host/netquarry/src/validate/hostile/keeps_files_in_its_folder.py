# level: forward
# layer: none
# benign: yes
import os
import shutil
import tempfile

import torch
from torch import nn

os.makedirs("one/two")
torch.save({"weight": torch.ones(2)}, "one/weights.pth")
os.rename("one/weights.pth", "one/two/weights.pth")
os.link("one/two/weights.pth", "again.pth")
os.symlink("again.pth", "link.pth")
with tempfile.TemporaryDirectory() as folder, tempfile.NamedTemporaryFile() as file:
    shutil.copyfile("link.pth", os.path.join(folder, "copy.pth"))
    file.write(b"x")
weight = torch.load("link.pth")["weight"]
shutil.rmtree("one")


class Block(nn.Module):
    def forward(self, x):
        return x * weight.sum()
