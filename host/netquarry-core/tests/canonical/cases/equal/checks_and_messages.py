class Block(nn.Module):
    def forward(self, x):
        assert x.dim() == 4, "an image"
        if x.shape[0] == 0:
            raise ValueError(f"empty: {x}")
        elif x.shape[1] == 1:
            x = x * 2
        else:
            warnings.warn("not grey")
        logger.info("forward")
        return x
# ---
class Block(nn.Module):
    def forward(self, x):
        if x.shape[1] == 1:
            x = x * 2
        return x
