# level: forward
# output: [2, 3, 32, 32]
from typing import List, Tuple

from torch import Tensor, nn


class Pictures:
    def __init__(self, tensors: Tensor, sizes: List[Tuple[int, int]]):
        self.tensors = tensors
        self.sizes = sizes


class Block(nn.Module):
    def forward(self, pictures: Pictures) -> Pictures:
        (height, width), _ = pictures.sizes
        assert pictures.tensors.shape[2:] == (height, width)
        return Pictures(pictures.tensors * 2, pictures.sizes)
