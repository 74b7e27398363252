class Block(nn.Module):
    expansion = 4

    def __init__(self, width=64, rate=0.1):
        super(Block, self).__init__()
        self.conv = nn.Conv2d(3, width, kernel_size=3, bias=False)
        self.norm = nn.BatchNorm2d(width, eps=1e-5)

    def forward(self, x):
        return self.norm(self.conv(x)) * 2
# ---
class Block(nn.Module):
    expansion = 2

    def __init__(self, width=96, rate=0.2):
        super().__init__()
        self.conv = nn.Conv2d(5, width, bias=False, kernel_size=7)
        self.norm = nn.BatchNorm2d(width, eps=1e-3)

    def forward(self, x):
        return self.norm(self.conv(x)) * 4
