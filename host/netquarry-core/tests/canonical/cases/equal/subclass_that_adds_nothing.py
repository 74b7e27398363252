class Base(nn.Module):
    def __init__(self, width, depth=2, **rest):
        super().__init__()
        self.fc = nn.Linear(width, depth)

    def forward(self, x):
        return self.fc(x)


class Block(Base):
    """The same."""

    def __init__(self, width, depth=2, **rest):
        super(Block, self).__init__(width, depth=depth, **rest)
# ---
class Block(nn.Module):
    def __init__(self, width, depth=2, **rest):
        super().__init__()
        self.fc = nn.Linear(width, depth)

    def forward(self, x):
        return self.fc(x)
