class Block(nn.Module):
    def forward(self, x):
        return x[:, 2, :]
# ---
class Block(nn.Module):
    def forward(self, x):
        return x[::2, :]
