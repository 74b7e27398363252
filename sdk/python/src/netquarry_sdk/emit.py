"""Emitters, which describe blocks in a form of their own."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from .bounds import U8, U32, U64
from .contract import Kind
from .discovery import Category as Category
from .plugin import Plugin


class Outcome(Enum):
    """What came of a level of validation."""

    PASSED = "passed"
    FAILED = "failed"
    UNKNOWN = "unknown"
    """Not tried, or tried without a conclusion."""
    NOT_APPLICABLE = "not_applicable"
    """There is nothing to check."""


class ParameterKind(Enum):
    POSITIONAL_ONLY = "positional_only"
    POSITIONAL_OR_KEYWORD = "positional_or_keyword"
    VARIADIC = "variadic"
    """`*args`"""
    KEYWORD_ONLY = "keyword_only"
    VARIADIC_KEYWORD = "variadic_keyword"
    """`**kwargs`"""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a constructor or of `forward`, without `self`."""

    name: str
    kind: ParameterKind = ParameterKind.POSITIONAL_OR_KEYWORD
    annotation: str | None = None
    """The text of the annotation, upstream's."""
    default: str | None = None
    """The text of the default, upstream's."""


@dataclass(frozen=True)
class Tensor:
    """A tensor that went in or came out."""

    name: str
    """The name of an argument, or the path inside a nested output: `0`, `logits`, `0.1`."""
    shape: Sequence[U64]
    dtype: str = "float32"
    """As torch writes it, without the prefix."""


@dataclass(frozen=True)
class Provenance:
    source: str
    """The name that the corpus gives to the source."""
    kind: str
    """`pypi`, `git` or `local`."""
    version: str | None
    commit: str | None
    file: str
    """Relative to the source's root, with forward slashes."""
    first_line: U32
    """1-based, inclusive, as `last_line`."""
    last_line: U32
    sha1: str
    """SHA-1 of the file."""
    swhid: str
    """The SoftWare Heritage identifier of the file."""


@dataclass(frozen=True)
class Dependency:
    """A definition in the block's closure."""

    definition: str
    """Source and dotted path."""
    needed_by: str | None = None
    """The definition that needed it first; None for the block itself."""
    confidence: str | None = None
    """`direct_import`, `qualified_name` or `heuristic`: how sure the resolution is."""
    license: str | None = None


@dataclass(frozen=True)
class Failure:
    class_: str
    """The class of failure by its name in records: `missing_distribution`."""
    message: str


@dataclass(frozen=True)
class Block:
    """What is known about a block. `netquarry_sdk.testing.block` makes one of which only the name matters."""

    id: str
    """Source and dotted path: `timm:timm.layers.drop.DropPath`."""
    name: str
    category: Category
    provenance: Provenance
    license: str | None = None
    """An SPDX expression, the conjunction over the closure; None where unknown."""
    bundle: str | None = None
    """The path of the bundle, relative to the output folder; None where none could be assembled."""
    sha256: str | None = None
    """SHA-256 of the bundle."""
    code: str | None = None
    """The text of the bundle, its header included; None where none could be assembled."""
    requirements: Sequence[str] = ()
    """PEP 508 requirements, sorted."""
    constructor_parameters: Sequence[Parameter] = ()
    forward_parameters: Sequence[Parameter] = ()
    constructor_arguments: Mapping[str, str] = field(default_factory=dict)
    """Python expressions by parameter name, as passed to the constructor in validation."""
    inputs: Sequence[Tensor] = ()
    outputs: Sequence[Tensor] = ()
    parameter_count: U64 | None = None
    """Of the instance, counted element by element."""
    closure: Sequence[Dependency] = ()
    level: U8 = 0
    """The highest level of validation passed, 0 to 7."""
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    """Levels by name, in their order."""
    failure: Failure | None = None
    manifest_record: str = "{}"
    """The whole record as it stands in the manifest, as JSON: everything above and what later versions
    add."""


class Placement(Enum):
    """How a file comes to stand in the emitter's folder."""

    WHOLE = "whole"
    """It is the only one of its path."""
    APPENDED = "appended"
    """It is a part of the file of its path.

    It stands behind the parts of the blocks before, in the order of their identities, and before the parts
    that come with the index.
    """


@dataclass(frozen=True)
class File:
    """A file that the host writes into the emitter's folder."""

    path: str
    """Relative, with forward slashes.

    A path that is absolute, leads out of the folder, or cannot be a file name on some system is refused, and
    so are two that differ only in the case of letters.
    """
    content: bytes
    placement: Placement

    @classmethod
    def whole(cls, path: str, content: str | bytes) -> "File":
        """The only file of this path; text is written in UTF-8."""
        return cls(path, _encoded(content), Placement.WHOLE)

    @classmethod
    def appended(cls, path: str, content: str | bytes) -> "File":
        """A part of the file of this path, behind what the blocks before have put there."""
        return cls(path, _encoded(content), Placement.APPENDED)


def _encoded(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content


@dataclass(frozen=True)
class Emission:
    """What becomes of one block; `Emission()` is nothing."""

    files: Sequence[File] = ()
    entry: str | None = None
    """What the emitter wants to know of the block when it writes the index, in a form of its own.

    A few hundred bytes, since the entries of all blocks are in memory together.
    """


@dataclass(frozen=True)
class Emitted:
    """A block that was emitted."""

    id: str
    name: str
    category: Category
    level: U8 = 0
    paths: Sequence[str] = ()
    """Those of the files that `emit_block` returned for it."""
    entry: str | None = None
    """What `emit_block` returned for it."""


class SpecEmitter(Plugin):
    """A plugin of the kind `spec-emitter`."""

    kind = Kind.SPEC_EMITTER

    @abstractmethod
    def emit_block(self, block: Block) -> Emission:
        """The files of one block, and what `emit_index` is to know of it. An exception fails the block."""

    def emit_index(self, blocks: Sequence[Emitted]) -> Sequence[File]:
        """The files about all blocks that were emitted, in the order of their identities.

        Called once, in another instance than `emit_block`. After an exception the run is without these files.
        """
        return ()
