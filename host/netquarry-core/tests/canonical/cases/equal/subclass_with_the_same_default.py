class Base(nn.Module):
    def __init__(self, bias=True):
        super().__init__()
        self.fc = nn.Linear(3, 3, bias=bias)


class Block(Base):
    def __init__(self, bias=True):
        super().__init__(bias=bias)
# ---
class Block(nn.Module):
    def __init__(self, bias=True):
        super().__init__()
        self.fc = nn.Linear(3, 3, bias=bias)
