class Block(nn.Module):
    def forward(self, x, layer=nn.ReLU):
        return layer()(x)
# ---
class Block(nn.Module):
    def forward(self, x, layer=nn.GELU):
        return layer()(x)
