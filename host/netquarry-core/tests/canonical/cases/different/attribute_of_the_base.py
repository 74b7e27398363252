class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.ReLU()

    def forward(self, x):
        return self.act(x)


class Block(Base):
    def __init__(self):
        super().__init__()
        self.act = nn.Tanh()
# ---
class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.ReLU()

    def forward(self, x):
        return self.act(x)


class Block(Base):
    def __init__(self):
        super().__init__()
        self.other = nn.Tanh()
