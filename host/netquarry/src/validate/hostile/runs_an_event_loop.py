# level: forward
# layer: none
# benign: yes
"""It has a pair of sockets to wake itself up."""
import asyncio

from torch import nn


async def answer():
    await asyncio.sleep(0)
    return await asyncio.get_running_loop().run_in_executor(None, lambda: 42)


value = asyncio.run(answer())


class Block(nn.Module):
    def forward(self, x):
        return x * value
