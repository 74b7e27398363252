class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.act1 = nn.ReLU()
        self.act2 = nn.Tanh()

    def forward(self, x, i):
        return getattr(self, f"act{i}")(x)
# ---
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.act2 = nn.ReLU()
        self.act1 = nn.Tanh()

    def forward(self, x, i):
        return getattr(self, f"act{i}")(x)
