class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.init = nn.Sequential()
        self.init.append(nn.ReLU())
# ---
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.init = nn.Sequential()
        self.init.append(nn.Tanh())
