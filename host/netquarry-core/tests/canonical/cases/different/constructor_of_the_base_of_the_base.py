class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)


class Block(Base):
    def __init__(self):
        super(Block, self).__init__()
        self.act = nn.ReLU()
# ---
class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)


class Block(Base):
    def __init__(self):
        super(Base, self).__init__()
        self.act = nn.ReLU()
