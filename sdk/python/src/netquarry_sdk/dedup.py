"""Strategies that decide which blocks are duplicates of others.

Blocks have numbers. A strategy decides; the heavy arithmetic is the host's, behind `Blocks`.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType

from .bounds import S32, U8, U32, U64
from .contract import Kind
from .plugin import Plugin


@dataclass(frozen=True)
class BlockSummary:
    id: str
    """Source and dotted path: `timm:timm.layers.drop.DropPath`; for records from elsewhere, their
    identity."""
    name: str
    source: str
    """The name that the corpus gives to the source; empty where there is none."""
    priority: S32
    """The priority of the source in the corpus; a greater one is preferred."""
    level: U8
    """The highest level of validation passed, 0 to 7."""
    accuracy: float | None
    """A measured accuracy, where the records carry one."""
    characters: U64
    """Of the code, in characters (Unicode scalar values)."""
    sha256: str
    """SHA-256 of the code in UTF-8, as hexadecimal digits."""


@dataclass(frozen=True)
class Shingling:
    """How code becomes a set of shingles."""

    normalisation: str
    """The normalisation of tokens, by name; the contract lists them (`interface blocks`, `record
    shingling`)."""
    width: U32
    """Consecutive tokens per shingle."""


@dataclass(frozen=True)
class Hashing:
    """How a set of shingles becomes a MinHash signature."""

    family: str = "minhash-rs"
    """Where the hash functions come from, by name: `minhash-rs` or `datasketch-1`."""
    permutations: U32 = 128
    """Hash values per signature. The host offers 128 and 256."""


@dataclass(frozen=True)
class Banding:
    """Where signatures collide."""

    hashing: Hashing
    bands: U32
    """Two blocks are candidates when all rows of some band agree; `bands * rows` is at most
    `permutations`."""
    rows: U32


@dataclass(frozen=True)
class Pair:
    first: U32
    second: U32


@dataclass(frozen=True)
class Criterion:
    """What two blocks have to have in common."""

    shingling: Shingling
    similarity: float
    """The least exact Jaccard similarity of their sets of shingles, in [0, 1]; 1 asks for equal sets."""


@dataclass(frozen=True)
class Follower:
    """A block and the one that it belongs to."""

    block: U32
    leader: U32
    similarity: float
    """By the first of the criteria, in [0, 1]."""


@dataclass(frozen=True)
class SimilarPair:
    first: U32
    second: U32
    similarity: float
    """In [0, 1]."""


@dataclass(frozen=True)
class Structure:
    """What the tree of a block's code looks like."""

    sha256: str
    """SHA-256 of everything below, as hexadecimal digits."""
    calls: Sequence[str]
    """What is called, in the order of a walk over the tree; the first 256."""
    call_counts: Mapping[str, U32]
    """What is called, with how often; sorted."""
    hyperparameters: Sequence[tuple[str, str]]
    """Keyword arguments that shape a layer, with their values rounded to powers of two; sorted, repeats
    kept."""


@dataclass(frozen=True)
class SimilarBlocks:
    """An answer of `StructureIndex`."""

    pairs: Sequence[SimilarPair]
    looked_up: U32
    """So many of the blocks were looked up; one at least, where there was one."""


class StructureIndex(ABC):
    """Structures of blocks, to look for similar ones. It holds the host's memory until its `with` block ends.

    A call may hold four.
    """

    @abstractmethod
    def similar(self, blocks: Sequence[int], most: int) -> SimilarBlocks:
        """For each of `blocks`, which are members, the other members that are similar enough, ascending.

        The block is the first of each pair. From `most` pairs on no further blocks are looked up: ask again
        for those.
        """

    def __enter__(self) -> "StructureIndex":
        return self

    # Not abstract: a stand-in has nothing to release.
    def __exit__(  # noqa: B027
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Releases the host's memory."""


class Blocks(ABC):
    """The blocks, numbered from 0, and the host's kernels over them; `len()` is the number of those that are
    left.

    Those that earlier strategies removed have the numbers behind those that are left. `members` are strictly
    ascending. The host ends the call on a number that is out of range. A kernel that refuses its arguments
    raises `Refusal`. `netquarry_sdk.testing.MemoryBlocks` stands in for the host.
    """

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def total(self) -> int:
        """The number of blocks that are left or were removed."""

    @abstractmethod
    def positions(self) -> Sequence[int]:
        """The number that each block had before any strategy removed one, in the order of their numbers
        now.
        """

    @abstractmethod
    def summaries(self, start: int = 0, count: int | None = None) -> Sequence[BlockSummary]:
        """At most `count` summaries from `start` on; without a count, those of the blocks that are left."""

    @abstractmethod
    def code(self, block: int) -> str:
        """The code that is compared: the text of a bundle without its provenance header."""

    @abstractmethod
    def tokens(self, block: int, normalisation: str) -> Sequence[str]:
        """Normalised tokens."""

    @abstractmethod
    def shingle_count(self, block: int, shingling: Shingling) -> int:
        """The number of distinct shingles."""

    @abstractmethod
    def first_equals(self, members: Sequence[int], shingling: Shingling) -> Sequence[int]:
        """For each member the first one that has the same set of shingles, which may be the member itself."""

    @abstractmethod
    def signature(self, block: int, shingling: Shingling, hashing: Hashing) -> Sequence[int]:
        """The MinHash signature, `hashing.permutations` numbers."""

    @abstractmethod
    def candidate_pairs(
        self, members: Sequence[int], shingling: Shingling, banding: Banding
    ) -> Sequence[Pair]:
        """Pairs of members that collide in some band, each once and with the smaller number first, sorted."""

    @abstractmethod
    def candidate_groups(
        self, members: Sequence[int], shingling: Shingling, banding: Banding
    ) -> Sequence[Sequence[int]]:
        """The members that collide in some band with each other, directly or through others.

        Groups of two at least, each ascending, in the order of their first ones. Where many are alike, pairs
        are more than groups by a square.
        """

    @abstractmethod
    def leaders(
        self, order: Sequence[int], criteria: Sequence[Criterion], banding: Banding
    ) -> Sequence[Follower]:
        """Clusters by leaders: the followers, in the order of `order`.

        Each block follows the first leader before it that collides with it in some band, by the first
        criterion's sets, and has enough in common with it by all criteria, or leads itself. The host ends the
        call on a block that comes twice.
        """

    @abstractmethod
    def similar_groups(
        self, members: Sequence[int], criteria: Sequence[Criterion]
    ) -> Sequence[Sequence[int]]:
        """The members that have enough in common by all criteria, directly or through others (single
        linkage).

        Groups of two at least, each ascending, in the order of their first ones. No pair is missed.
        """

    @abstractmethod
    def jaccard(self, block: int, others: Sequence[int], shingling: Shingling) -> Sequence[float]:
        """Exact Jaccard similarity of the shingle sets of `block` and each of `others`; 1 for two empty
        sets.
        """

    @abstractmethod
    def structure(self, block: int) -> Structure:
        """The structural fingerprint."""

    @abstractmethod
    def structure_digests(self, members: Sequence[int]) -> Sequence[str]:
        """SHA-256 of the structures of all members, as hexadecimal digits."""

    @abstractmethod
    def structural_jaccard(self, block: int, others: Sequence[int]) -> Sequence[float]:
        """The Jaccard similarity of the structure of `block` and those of each of `others`; 0 for two empty
        ones.

        Over the union of `call_counts` and `hyperparameters` as sets.
        """

    @abstractmethod
    def structure_index(self, members: Sequence[int], threshold: float) -> StructureIndex:
        """The structures of the members, to look for those of at least this similarity, in [0, 1]."""


@dataclass(frozen=True)
class Removal:
    """A block that is left out because another one stands for it."""

    block: U32
    survivor: U32
    """The one that stands for it; a block that stays."""
    reason: str
    """The strategy's word for its reason: `exact`, `lexical`, `structural_equal`, `structural_near`."""
    similarity: float | None = None
    """In [0, 1], in the strategy's own measure."""


@dataclass(frozen=True)
class Restoration:
    """A block that an earlier strategy removed and that stays after all."""

    block: U32
    reason: str
    """The strategy's word for its reason: `rescue`, `top_up`."""


@dataclass(frozen=True)
class Decisions:
    """What a strategy decides."""

    removals: Sequence[Removal] = ()
    """Of blocks that are left, sorted by block; each survivor stays."""
    restorations: Sequence[Restoration] = ()
    """Of blocks that were removed, in the order in which they come back."""


class DedupStrategy(Plugin):
    """A plugin of the kind `dedup-strategy`."""

    kind = Kind.DEDUP_STRATEGY

    @abstractmethod
    def deduplicate(self, blocks: Blocks) -> Decisions:
        """Looks at the whole set and decides. After an exception nothing is decided by the strategy."""
