class Block(nn.Module):
    def forward(self, x):
        return F.interpolate(x, mode="bilinear")
# ---
class Block(nn.Module):
    def forward(self, x):
        return F.interpolate(x, mode="nearest")
