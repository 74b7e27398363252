class Block(nn.Module):
    """A block."""

    width: int
    depth: int = 3

    def forward(self, x: torch.Tensor, *, y: int = 0) -> torch.Tensor:
        """Forward."""
        z: int = y
        return x + z  # the sum
# ---
class Block(nn.Module):
    depth = 3

    def forward(self, x, *, y=0):
        z = y
        return x + z
