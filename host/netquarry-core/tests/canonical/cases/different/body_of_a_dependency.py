def helper(x):
    return x.relu()


class Block(nn.Module):
    def forward(self, x):
        return helper(x)
# ---
def helper(x):
    return x.gelu()


class Block(nn.Module):
    def forward(self, x):
        return helper(x)
