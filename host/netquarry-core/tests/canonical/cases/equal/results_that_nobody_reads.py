class Block(nn.Module):
    def forward(self, x):
        unused = None
        if unused:
            unused = 0
        kept = x.shape

        def helper():
            return unused

        return x + kept[0]
# ---
class Block(nn.Module):
    def forward(self, x):
        kept = x.shape
        return x + kept[0]
