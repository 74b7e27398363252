"""Bounds of numbers, as a part of their types."""

from dataclasses import dataclass
from typing import Annotated, TypeAlias


@dataclass(frozen=True)
class Range:
    """The least and the greatest value, both included: `Annotated[float, Range(0, 1)]`."""

    minimum: float
    maximum: float

    def __contains__(self, value: float) -> bool:
        return self.minimum <= value <= self.maximum


U8: TypeAlias = Annotated[int, Range(0, 2**8 - 1)]
U32: TypeAlias = Annotated[int, Range(0, 2**32 - 1)]
U64: TypeAlias = Annotated[int, Range(0, 2**64 - 1)]
S32: TypeAlias = Annotated[int, Range(-(2**31), 2**31 - 1)]
