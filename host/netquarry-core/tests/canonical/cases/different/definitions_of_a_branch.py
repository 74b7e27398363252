if FAST:
    def first(x):
        return x.relu()

    def second(x):
        return x.tanh()


class Block(nn.Module):
    def forward(self, x):
        return first(x)
# ---
if FAST:
    def second(x):
        return x.relu()

    def first(x):
        return x.tanh()


class Block(nn.Module):
    def forward(self, x):
        return first(x)
