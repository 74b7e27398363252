class Block(nn.Module):
    def forward(self, x):
        y = x
        y += self.bias
        return x
# ---
class Block(nn.Module):
    def forward(self, x):
        return x
