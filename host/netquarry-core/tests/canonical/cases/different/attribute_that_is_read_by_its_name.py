class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.ReLU()
        self.second = nn.GELU()

    def forward(self, x):
        return getattr(self, "first")(x)
# ---
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.second = nn.ReLU()
        self.first = nn.GELU()

    def forward(self, x):
        return getattr(self, "first")(x)
