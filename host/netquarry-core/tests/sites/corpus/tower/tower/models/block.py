import torch.nn as nn

__all__ = ["Block", "Stack"]


class Block(nn.Module):
    pass


class Stack(nn.Module):
    def __init__(self, width):
        # The width is nobody's but this function's.
        self.first = Block(width, heads=8, act=nn.GELU)
        self.rest = [Block(64, heads=8) for _ in range(3)]


Other = Block
made = Stack(Other(1))

if __name__ == "__main__":
    # The facts leave out what never runs with the module, and these are no sites.
    Stack(Block(64, heads=8))
