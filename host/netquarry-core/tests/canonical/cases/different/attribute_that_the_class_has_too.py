class Block(nn.Module):
    scale = None

    def prepare(self):
        self.scale = 1

    def forward(self, x):
        return self.scale
# ---
class Block(nn.Module):
    scale = None

    def prepare(self):
        self.factor = 1

    def forward(self, x):
        return self.factor
