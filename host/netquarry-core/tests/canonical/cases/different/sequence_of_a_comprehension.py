class Block(nn.Module):
    def forward(self, x, y):
        return [x for x in x]
# ---
class Block(nn.Module):
    def forward(self, x, y):
        return [y for y in y]
