class Block(nn.Module):
    def forward(self, x):
        return x if x.dim() == 3 else x[0]
# ---
class Block(nn.Module):
    def forward(self, x):
        return x if x.dim() == 4 else x[0]
