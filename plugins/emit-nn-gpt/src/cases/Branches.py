import torch
import torch.nn as nn

if hasattr(torch, "compile"):
    class Branches(nn.Module):
        @torch.jit.unused
        def forward(self, x):
            # Left where it is: it stands before the first statement.
            @torch.no_grad()
            def inner(y):
                return y * 2
            # Masked.
            return (
                inner(x)
            )  # masked, too
            # Left, behind the last statement.
else:
    class Branches(nn.Module):
        def forward(self, x):
            return x


class Other(nn.Module):
    def forward(self, x):
        return x + 1
