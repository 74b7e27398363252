def helper(x):
    return x * WIDTH


WIDTH = 8


class Block(nn.Module):
    def forward(self, x):
        return helper(x)
# ---
SIZE = 8


class Unused(nn.Module):
    pass


class Block(nn.Module):
    def forward(self, x):
        return scaled(x)


def scaled(value):
    return value * SIZE
