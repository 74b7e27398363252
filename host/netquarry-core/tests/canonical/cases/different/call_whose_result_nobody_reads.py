class Block(nn.Module):
    def forward(self, x):
        y = x.relu_()
        return x
# ---
class Block(nn.Module):
    def forward(self, x):
        return x
