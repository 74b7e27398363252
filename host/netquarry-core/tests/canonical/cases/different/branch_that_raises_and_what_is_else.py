class Block(nn.Module):
    def forward(self, x):
        if self.training:
            x = x + 1
            raise ValueError
        return x
# ---
class Block(nn.Module):
    def forward(self, x):
        return x
