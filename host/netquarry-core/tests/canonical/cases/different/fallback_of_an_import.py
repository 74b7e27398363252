try:
    from fast import norm
except ImportError:
    norm = None


class Block(nn.Module):
    def forward(self, x):
        return norm(x)
# ---
try:
    from slow import norm
except ImportError:
    norm = None


class Block(nn.Module):
    def forward(self, x):
        return norm(x)
