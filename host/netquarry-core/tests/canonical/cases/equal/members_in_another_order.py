class Block(nn.Module):
    scale = 2

    def helper(self, x):
        return x * self.scale

    def forward(self, x):
        return self.helper(x)
# ---
class Block(nn.Module):
    scale = 2

    def forward(self, x):
        return self.helper(x)

    def helper(self, x):
        return x * self.scale
