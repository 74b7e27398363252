"""Shims: what static analysis cannot see in one code base.

A rule states a property of the code that makes leaving something out or replacing it right: that a decorator
returns what it was given, that a call only counts usage. A *pattern* is a dotted path, of which one `*`
stands for anything: `timm.models.*`.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from .bounds import U32
from .contract import Kind
from .plugin import Plugin


@dataclass(frozen=True)
class Rule:
    path: str
    """The pattern of what the rule is about."""
    why: str
    """A sentence; it stands in the record of every block that the rule touched."""


@dataclass(frozen=True)
class Registry:
    """Objects that map keys to classes and functions, how they are filled, and where keys to them stand.

    An entry joins a closure only with its registry, and only where a definition of the closure holds its key.
    A decorator or call that makes an entry does not bring the registry: without it, it is left out.
    """

    why: str
    """A sentence about why an entry may be left out."""
    classes: Sequence[str] = ()
    """Dotted paths of classes: a global that is bound to a call of one of them is a registry."""
    objects: Sequence[str] = ()
    """Patterns of further registries: containers, or functions that register."""
    methods: Sequence[str] = ()
    """Methods that make an entry, as decorators and in calls: `register_module`.

    `__setitem__` stands for `TABLE["key"] = x`, and the empty name for a call of the object itself.
    """
    key_argument: str = ""
    """The keyword of such a method that takes the key, beside positional strings.

    An entry without one has the name of what is registered for its key.
    """
    key_fields: Sequence[str] = ()
    """Where configurations name entries: `type` in `dict(type="BN")` and `{"type": "BN"}`."""
    scope_separator: str | None = None
    """What ends the name of a scope before a key: `.` in `mmdet.ResNet`. The rest is looked for as well."""


@dataclass(frozen=True)
class Replacement:
    """A definition that is replaced by a small faithful equivalent."""

    path: str
    """The dotted path; no pattern.

    Of a global name of the corpus; of a method or attribute of a class, which is the path of the class and
    the name, and which the statements replace inside of the class; or of something outside of the corpus that
    a module imports by its name.
    """
    by: str
    """Python statements that bind the same name.

    Their free names mean what they mean in the module of the definition, and bring what they name.
    """
    why: str


@dataclass(frozen=True)
class OperatorNamespace:
    """`torch.ops.<namespace>` exists only once the import has run.

    Operators that the corpus defines itself, through `torch.library`, come without it.
    """

    namespace: str
    import_statement: str
    """`import torchvision`"""
    why: str


@dataclass(frozen=True)
class BlockArguments:
    """How to construct and run a block, where that cannot be guessed."""

    path: str
    """The pattern of the class."""
    constructor_arguments: Mapping[str, str] = field(default_factory=dict)
    """Python expressions by the constructor's parameter names; `torch` and `nn` are at hand."""
    forward_arguments: Mapping[str, str] = field(default_factory=dict)
    """Python expressions by the parameter names of `forward`."""


@dataclass(frozen=True)
class UpstreamState:
    """A state that the code base's own programs set before they construct anything.

    Needed where a replacement takes it for given. Upstream's class is compared with the bundle's in it.
    """

    path: str
    """The pattern of the class."""
    statements: str
    """Python statements, executed after upstream's module has been imported and before its class is
    called."""
    why: str


@dataclass(frozen=True)
class Tables:
    """The rules that the host applies by itself; name only those that the shim has."""

    packages: Sequence[str] = ()
    """The import packages that the rules are about: `timm`."""
    dropped_decorators: Sequence[Rule] = ()
    """Decorators that register or document, and change nothing that the behaviour of a block needs.

    The path is the decorator's own, where it is defined; of a method of an object, the object's path and the
    method.
    """
    dropped_calls: Sequence[Rule] = ()
    """Functions of which calls that stand as statements are ballast."""
    postponed_annotations: Sequence[Rule] = ()
    """Definitions and methods, by pattern, of which nothing reads the annotations while a block runs.

    An annotation that names something of the corpus is kept as a string, and does not bring what it names.
    """
    registries: Sequence[Registry] = ()
    named_tables: Sequence[Rule] = ()
    """Dictionaries at module level that give classes something by their names, all keys written out as
    strings.

    A block needs the entries whose key is part of the name of a class of its closure, and those whose key a
    definition of the closure holds as a string; the others are left out.
    """
    dropped_members: Sequence[Rule] = ()
    """Methods and attributes that a class carries for other purposes than its behaviour as a block.

    By the path of the class and the name: `package.models.Model.from_pretrained`; `__doc__` is the docstring.
    Statements that change nothing but such a member after its class go with it, and those that patch it into
    an object outside of the corpus: `cv2.imread`.
    """
    dropped_bases: Sequence[Rule] = ()
    """Base classes of which a block needs nothing; they are left out wherever they are a base."""
    replaced_definitions: Sequence[Replacement] = ()
    operator_namespaces: Sequence[OperatorNamespace] = ()
    dynamic_names: Sequence[str] = ()
    """Patterns of the names about which only `RepoShim.answer` can say what a use of them needs."""
    arguments: Sequence[BlockArguments] = ()
    upstream_states: Sequence[UpstreamState] = ()


class DefinitionKind(Enum):
    CLASS = "class"
    FUNCTION = "function"
    ASSIGNMENT = "assignment"
    IMPORT = "import"
    OTHER = "other"


@dataclass(frozen=True)
class Definition:
    path: str
    """The dotted path."""
    kind: DefinitionKind
    source: str
    """The name that the corpus gives to the source."""
    file: str
    """Relative to the source's root, with forward slashes."""
    first_line: U32
    """1-based, inclusive, as `last_line`."""
    last_line: U32


class FileErrorCase(Enum):
    """Why a file cannot be read."""

    NOT_PERMITTED = "not-permitted"
    MISSING = "missing"
    """The source has no such file, or the host keeps none of its kind."""
    OTHER = "other"


class FileError(Exception):
    """A file of a source that cannot be read."""

    def __init__(self, case: FileErrorCase, path: str, sentence: str = "") -> None:
        super().__init__(f"{path}: {sentence or case.value}")
        self.case = case
        self.path = path


class CodeIndex(ABC):
    """A read-only view of the host's index over all sources; `netquarry_sdk.testing.MemoryIndex` stands in
    for it.
    """

    @abstractmethod
    def find(self, path: str) -> Definition | None:
        """The definition under a dotted path; re-exports are followed."""

    @abstractmethod
    def source(self, path: str) -> str | None:
        """The text of the definition, decorators included."""

    @abstractmethod
    def references(self, path: str) -> Sequence[str]:
        """The dotted paths that the definition refers to, as far as they resolve; sorted."""

    @abstractmethod
    def registered(self, registry: str, key: str) -> Sequence[str]:
        """The dotted paths of the definitions that a decorator registers under a key; sorted.

        The decorator is a call of `registry`, the dotted path of a function, or of an object and a method of
        it, and has `key` among its arguments: a string, or the dotted path of what a name resolves to:
        `@register("key")`, `@MODELS.register(name="key")`, `@register_kernel(resize, Tensor)`. A decorator
        without arguments means the definition's own name.
        """

    def files(self, source: str) -> Sequence[str]:
        """The paths of those files of a source that the shim may read (`Plugin.reads_files`); sorted.

        `source` is the name that the corpus gives to it, as in `Definition.source`.
        """
        return ()

    def read_file(self, source: str, path: str) -> bytes:
        """The bytes of a file of a source as it was fetched. Raises `FileError`."""
        raise FileError(FileErrorCase.MISSING, path)


@dataclass(frozen=True)
class Question:
    """A use of a name that the tables mark as dynamic."""

    name: str
    """The dotted path of the name."""
    referrer: str
    """The dotted path of the definition in which the use stands."""
    expression: str
    """The text of the use: of a call, with its arguments."""
    literals: Sequence[str] = ()
    """The string literals among the arguments, in order."""


@dataclass(frozen=True)
class Resolved:
    """What the use needs beside the name itself, such as the definitions registered under a key."""

    paths: Sequence[str]
    """Dotted paths of definitions in the index, each of which joins the closure.

    One that the index does not hold is recorded as unresolved.
    """
    why: str


@dataclass(frozen=True)
class Unknown:
    """The shim does not know either. The name is recorded as unresolved, with the sentence."""

    why: str


Answer: TypeAlias = Resolved | Unknown


class RepoShim(Plugin):
    """A plugin of the kind `repo-shim`."""

    kind = Kind.REPO_SHIM

    @abstractmethod
    def tables(self) -> Tables:
        """The rules that the host applies by itself; asked once. After an exception the shim is not used at
        all.
        """

    def answer(self, question: Question, index: CodeIndex) -> Answer:
        """Says what a use of a name needs that `Tables.dynamic_names` marks. An exception fails the
        question.
        """
        return Unknown(f"{self.name} has no answer about {question.name}")
