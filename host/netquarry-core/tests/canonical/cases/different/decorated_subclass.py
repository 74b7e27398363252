class Base(nn.Module):
    def forward(self, x):
        return x.tanh()


class Block(Base):
    @negated
    def forward(self, x):
        return super().forward(x)
# ---
class Block(nn.Module):
    def forward(self, x):
        return x.tanh()
