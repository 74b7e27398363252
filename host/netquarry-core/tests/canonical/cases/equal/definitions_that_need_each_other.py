def even(n):
    return n == 0 or odd(n - 1)


def odd(n):
    return n != 0 and even(n - 1)


class Block(nn.Module):
    def forward(self, x):
        return even(x) or odd(x) or Block()
# ---
def is_odd(n):
    return n != 0 and is_even(n - 1)


def is_even(n):
    return n == 0 or is_odd(n - 1)


class Block(nn.Module):
    def forward(self, x):
        return is_even(x) or is_odd(x) or Block()
