class Block(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layers = nn.ModuleList([copy.deepcopy(layer) for _ in range(3)])
# ---
class Block(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layers = nn.ModuleList([layer for _ in range(3)])
