"""The host's blocks and kernels, behind their resources."""

from collections.abc import Sequence
from types import TracebackType
from typing import Any

from .bounds import U32
from .dedup import (
    Banding,
    Blocks,
    BlockSummary,
    Criterion,
    Follower,
    Hashing,
    Pair,
    Shingling,
    SimilarBlocks,
    Structure,
    StructureIndex,
)
from .refusal import Refusal
from .wire import Bindings, incoming, outgoing

_summaries = incoming(Sequence[BlockSummary])
_pairs = incoming(Sequence[Pair])
_followers = incoming(Sequence[Follower])
_structure = incoming(Structure)
_similar = incoming(SimilarBlocks)
_groups = incoming(Sequence[Sequence[int]])


class HostBlocks(Blocks):
    def __init__(self, resource: Any, bindings: Bindings) -> None:
        self._resource = resource
        self._refused = bindings.error
        self._number = outgoing(U32, bindings)
        self._numbers = outgoing(Sequence[U32], bindings)
        self._shingling = outgoing(Shingling, bindings)
        self._hashing = outgoing(Hashing, bindings)
        self._banding = outgoing(Banding, bindings)
        self._criteria = outgoing(Sequence[Criterion], bindings)

    def __len__(self) -> int:
        count: int = self._resource.len()
        return count

    def total(self) -> int:
        count: int = self._resource.total()
        return count

    def positions(self) -> Sequence[int]:
        return tuple(self._resource.positions())

    def summaries(self, start: int = 0, count: int | None = None) -> Sequence[BlockSummary]:
        count = max(len(self) - start, 0) if count is None else count
        found: Sequence[BlockSummary] = _summaries(
            self._resource.summaries(self._number(start), self._number(count))
        )
        return found

    def code(self, block: int) -> str:
        text: str = self._resource.code(self._number(block))
        return text

    def tokens(self, block: int, normalisation: str) -> Sequence[str]:
        return tuple(self._kernel("tokens", self._number(block), normalisation))

    def shingle_count(self, block: int, shingling: Shingling) -> int:
        count: int = self._kernel("shingle_count", self._number(block), self._shingling(shingling))
        return count

    def first_equals(self, members: Sequence[int], shingling: Shingling) -> Sequence[int]:
        return tuple(self._kernel("first_equals", self._numbers(members), self._shingling(shingling)))

    def signature(self, block: int, shingling: Shingling, hashing: Hashing) -> Sequence[int]:
        arguments = (self._number(block), self._shingling(shingling), self._hashing(hashing))
        return tuple(self._kernel("signature", *arguments))

    def candidate_pairs(
        self, members: Sequence[int], shingling: Shingling, banding: Banding
    ) -> Sequence[Pair]:
        arguments = (self._numbers(members), self._shingling(shingling), self._banding(banding))
        found: Sequence[Pair] = _pairs(self._kernel("candidate_pairs", *arguments))
        return found

    def candidate_groups(
        self, members: Sequence[int], shingling: Shingling, banding: Banding
    ) -> Sequence[Sequence[int]]:
        arguments = (self._numbers(members), self._shingling(shingling), self._banding(banding))
        found: Sequence[Sequence[int]] = _groups(self._kernel("candidate_groups", *arguments))
        return found

    def leaders(
        self, order: Sequence[int], criteria: Sequence[Criterion], banding: Banding
    ) -> Sequence[Follower]:
        arguments = (self._numbers(order), self._criteria(criteria), self._banding(banding))
        found: Sequence[Follower] = _followers(self._kernel("leaders", *arguments))
        return found

    def similar_groups(
        self, members: Sequence[int], criteria: Sequence[Criterion]
    ) -> Sequence[Sequence[int]]:
        found: Sequence[Sequence[int]] = _groups(
            self._kernel("similar_groups", self._numbers(members), self._criteria(criteria))
        )
        return found

    def jaccard(self, block: int, others: Sequence[int], shingling: Shingling) -> Sequence[float]:
        arguments = (self._number(block), self._numbers(others), self._shingling(shingling))
        return tuple(self._kernel("jaccard", *arguments))

    def structure(self, block: int) -> Structure:
        found: Structure = _structure(self._resource.structure(self._number(block)))
        return found

    def structure_digests(self, members: Sequence[int]) -> Sequence[str]:
        return tuple(self._resource.structure_digests(self._numbers(members)))

    def structural_jaccard(self, block: int, others: Sequence[int]) -> Sequence[float]:
        return tuple(self._resource.structural_jaccard(self._number(block), self._numbers(others)))

    def structure_index(self, members: Sequence[int], threshold: float) -> StructureIndex:
        return HostStructureIndex(self._resource.structure_index(self._numbers(members), threshold), self)

    def _kernel(self, name: str, *arguments: Any) -> Any:
        try:
            return getattr(self._resource, name)(*arguments)
        except self._refused as refused:
            raise Refusal.host(refused.value) from None


class HostStructureIndex(StructureIndex):
    def __init__(self, resource: Any, blocks: HostBlocks) -> None:
        self._resource = resource
        self._blocks = blocks

    def similar(self, blocks: Sequence[int], most: int) -> SimilarBlocks:
        numbers = self._blocks._numbers(blocks)
        found: SimilarBlocks = _similar(self._resource.similar(numbers, self._blocks._number(most)))
        return found

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._resource.__exit__(kind, error, traceback)
