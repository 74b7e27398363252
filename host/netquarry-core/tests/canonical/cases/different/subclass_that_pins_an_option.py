class Base(nn.Module):
    def __init__(self, width, bias=True):
        super().__init__()
        self.fc = nn.Linear(width, 3, bias=bias)


class Block(Base):
    def __init__(self, width, bias=True):
        super().__init__(width, bias=False)
# ---
class Block(nn.Module):
    def __init__(self, width, bias=True):
        super().__init__()
        self.fc = nn.Linear(width, 3, bias=bias)
