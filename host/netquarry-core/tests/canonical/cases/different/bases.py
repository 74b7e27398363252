class Block(nn.Conv1d):
    pass
# ---
class Block(nn.Conv2d):
    pass
