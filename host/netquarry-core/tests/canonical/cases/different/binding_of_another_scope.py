def helper():
    global WIDTH
    WIDTH = 3


class Block(nn.Module):
    def forward(self, x):
        helper()
        return x
# ---
def helper():
    WIDTH = 3


class Block(nn.Module):
    def forward(self, x):
        helper()
        return x
