import torch

LIMIT = 6.0


def scale(x: torch.Tensor, factor: float = 1.0) -> torch.Tensor:
    # Clamped, so that a wild factor does no harm.
    return (x * factor).clamp(-LIMIT, LIMIT)


def unused(x):
    return x
