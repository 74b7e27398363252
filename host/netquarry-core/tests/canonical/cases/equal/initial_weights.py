class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        nn.init.normal_(self.fc.weight, std=0.02)
        self.init_weights()

    def init_weights(self):
        for m in self.modules():
            if isinstance(m, nn.Linear):
                nn.init.zeros_(m.bias)

    def forward(self, x):
        return self.fc(x)
# ---
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        for m in self.modules():
            nn.init.ones_(m.weight)

    def forward(self, x):
        return self.fc(x)
