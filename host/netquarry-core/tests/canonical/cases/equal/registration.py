@MODELS.register_module()
class Block(nn.Module):
    def forward(self, x):
        return x + 1
# ---
class Block(nn.Module):
    def forward(self, x):
        return x + 1
