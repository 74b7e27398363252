from .layers import Block, Scale

__all__ = ["Block", "Scale"]
