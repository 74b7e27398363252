"""Blocks in memory."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

from ..dedup import (
    Banding,
    Blocks,
    BlockSummary,
    Criterion,
    Follower,
    Hashing,
    Pair,
    Shingling,
    SimilarBlocks,
    SimilarPair,
    Structure,
    StructureIndex,
)


@dataclass
class MemoryBlocks(Blocks):
    """Blocks in memory, with kernels that are simple to foresee.

    Tokens are what blanks separate, every pair of members is a candidate, and the structure consists of the
    words that end in `(`.
    """

    _blocks: list[tuple[BlockSummary, str]] = field(default_factory=list)
    _removed: int = 0
    _positions: dict[int, int] = field(default_factory=dict)

    def add(self, name: str, code: str, **fields: Any) -> BlockSummary:
        """Adds a block; `fields` are others of its summary. The digest is the code itself, unless a field
        says else.
        """
        summary = BlockSummary(
            id=f"test:{name}",
            name=name,
            source="test",
            priority=0,
            level=3,
            accuracy=None,
            characters=len(code),
            sha256=code,
        )
        summary = replace(summary, **fields)
        self._blocks.append((summary, code))
        return summary

    def remove_last(self, count: int) -> None:
        """Says that so many of the last ones were removed by earlier strategies."""
        self._removed = count

    def move_to(self, block: int, position: int) -> None:
        """Says which number a block had before any strategy removed one; no two blocks may have had the
        same.
        """
        self._positions[block] = position

    def __len__(self) -> int:
        return self.total() - self._removed

    def total(self) -> int:
        return len(self._blocks)

    def positions(self) -> Sequence[int]:
        return [self._positions.get(block, block) for block in range(self.total())]

    def summaries(self, start: int = 0, count: int | None = None) -> Sequence[BlockSummary]:
        end = len(self) if count is None else start + count
        return [summary for summary, _ in self._blocks[start:end]]

    def code(self, block: int) -> str:
        return self._blocks[block][1]

    def tokens(self, block: int, normalisation: str) -> Sequence[str]:
        return self.code(block).split()

    def shingle_count(self, block: int, shingling: Shingling) -> int:
        return len(self._shingles(block, shingling))

    def first_equals(self, members: Sequence[int], shingling: Shingling) -> Sequence[int]:
        firsts: dict[frozenset[tuple[str, ...]], int] = {}
        return [firsts.setdefault(self._shingles(member, shingling), member) for member in members]

    def signature(self, block: int, shingling: Shingling, hashing: Hashing) -> Sequence[int]:
        return [0] * hashing.permutations

    def candidate_pairs(
        self, members: Sequence[int], shingling: Shingling, banding: Banding
    ) -> Sequence[Pair]:
        return [Pair(first, second) for first, second in combinations(members, 2)]

    def candidate_groups(
        self, members: Sequence[int], shingling: Shingling, banding: Banding
    ) -> Sequence[Sequence[int]]:
        return [list(members)] if len(members) > 1 else []

    def leaders(
        self, order: Sequence[int], criteria: Sequence[Criterion], banding: Banding
    ) -> Sequence[Follower]:
        leaders: list[int] = []
        followers: list[Follower] = []
        for block in order:
            leader = next((leader for leader in leaders if self._are_alike(leader, block, criteria)), None)
            if leader is None:
                leaders.append(block)
            else:
                similarity = self._similarity(leader, block, criteria[0].shingling)
                followers.append(Follower(block, leader, similarity))
        return followers

    def similar_groups(
        self, members: Sequence[int], criteria: Sequence[Criterion]
    ) -> Sequence[Sequence[int]]:
        groups: list[list[int]] = []
        for member in members:
            near = [
                group for group in groups if any(self._are_alike(other, member, criteria) for other in group)
            ]
            groups = [group for group in groups if group not in near]
            groups.append(sorted([*(other for group in near for other in group), member]))
        return sorted(group for group in groups if len(group) > 1)

    def jaccard(self, block: int, others: Sequence[int], shingling: Shingling) -> Sequence[float]:
        return [self._similarity(block, other, shingling) for other in others]

    def structure(self, block: int) -> Structure:
        calls = [word[:-1] for word in self.code(block).split() if word.endswith("(")]
        return Structure(" ".join(calls), calls, dict(sorted(Counter(calls).items())), ())

    def structure_digests(self, members: Sequence[int]) -> Sequence[str]:
        return [self.structure(member).sha256 for member in members]

    def structural_jaccard(self, block: int, others: Sequence[int]) -> Sequence[float]:
        return [_jaccard(self._features(block), self._features(other), of_empty=0.0) for other in others]

    def structure_index(self, members: Sequence[int], threshold: float) -> StructureIndex:
        return _MemoryStructures(self, members, threshold)

    def _shingles(self, block: int, shingling: Shingling) -> frozenset[tuple[str, ...]]:
        tokens = self.code(block).split()
        width = max(min(shingling.width, len(tokens)), 1)
        return frozenset(tuple(tokens[start : start + width]) for start in range(len(tokens) - width + 1))

    def _similarity(self, first: int, second: int, shingling: Shingling) -> float:
        return _jaccard(self._shingles(first, shingling), self._shingles(second, shingling), of_empty=1.0)

    def _are_alike(self, first: int, second: int, criteria: Iterable[Criterion]) -> bool:
        return all(self._similarity(first, second, each.shingling) >= each.similarity for each in criteria)

    def _features(self, block: int) -> frozenset[tuple[str, int]]:
        return frozenset(self.structure(block).call_counts.items())


def _jaccard(first: frozenset[Any], second: frozenset[Any], *, of_empty: float) -> float:
    union = first | second
    return len(first & second) / len(union) if union else of_empty


@dataclass(frozen=True)
class _MemoryStructures(StructureIndex):
    blocks: MemoryBlocks
    members: Sequence[int]
    threshold: float

    def similar(self, blocks: Sequence[int], most: int) -> SimilarBlocks:
        """Stops behind the block with which there are `most` pairs."""
        pairs: list[SimilarPair] = []
        looked_up = 0
        for block in blocks:
            pairs.extend(self._similar_to(block))
            looked_up += 1
            if len(pairs) >= most:
                break
        return SimilarBlocks(pairs, looked_up)

    def _similar_to(self, block: int) -> Iterator[SimilarPair]:
        others = [other for other in self.members if other != block]
        for other, similarity in zip(others, self.blocks.structural_jaccard(block, others), strict=True):
            if similarity >= self.threshold:
                yield SimilarPair(block, other, similarity)
