"""Rules that choose the blocks among the classes of the sources."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from .bounds import U32
from .contract import Kind
from .plugin import Plugin


class Category(Enum):
    """The categories of blocks; the value is the name that stands in records."""

    ATTENTION = "attention"
    CONVOLUTION = "convolution"
    TRANSFORMER_BLOCK = "transformer_block"
    POOLING = "pooling"
    NORMALISATION = "normalisation"
    LOSS = "loss"
    ARCHITECTURE = "architecture"
    UTILITY = "utility"


@dataclass(frozen=True)
class BaseClass:
    """A base class of a class."""

    written: str | None = None
    """As the source has it: `nn.Module`; of a call or a subscript (`Generic[T]`) the part before the bracket.

    None where the expression is anything else.
    """
    resolved: str | None = None
    """The dotted path that the index resolves it to: `torch.nn.Module`. None where it does not resolve."""


@dataclass(frozen=True)
class Method:
    """A method that the body of a class defines."""

    name: str
    parameters: Sequence[str] = ("self",)
    """Names in order, `self` included, without `*` and `**`."""
    decorators: Sequence[str] = ()
    """Dotted names as written, without the call: `torch.jit.ignore`; empty strings for other expressions."""
    stub: bool = False
    """The body only raises NotImplementedError, passes, or is a docstring or `...`."""


@dataclass(frozen=True)
class Ancestor:
    """A direct or indirect base class."""

    path: str
    """Where it is defined; as far as it resolves for an external one (`torch.nn.Module`)."""
    external: bool = False
    """No source of the corpus defines it: its methods are not known."""
    methods: Sequence[Method] = ()
    """The methods that its own body defines."""


@dataclass(frozen=True)
class ClassDescription:
    """A class that is bound to a global name of its module."""

    name: str
    path: str
    """The dotted path: module and name."""
    module: str
    source: str
    """The name that the corpus gives to the source."""
    file: str
    """Relative to the source's root, with forward slashes."""
    bases: Sequence[BaseClass] = ()
    metaclass: str | None = None
    """As written: `ABCMeta`, `abc.ABCMeta`."""
    ancestors: Sequence[Ancestor] = ()
    """Each once, in the order in which Python would look a method up, as far as that is known."""
    methods: Sequence[Method] = ()
    decorators: Sequence[str] = ()
    """Dotted names as written, without the call; empty strings for other expressions."""
    attributes: Sequence[str] = ()
    """Other names that the class body binds."""
    references: Sequence[str] = ()
    """The dotted names that the class's text refers to, as written (`nn.Conv2d`, `F.softmax`), sorted."""
    summary: str | None = None
    """The first line of the docstring, without surrounding blanks."""
    conditional: bool = False
    """It stands in a block that may not run: `if`, `try`, a loop."""
    subclassed: bool = False
    """Some other class of the corpus names it as a base."""


@dataclass(frozen=True)
class Proposal:
    """A class that the rule takes for a block."""

    index: U32
    """The position of the class in the list that the call was given."""
    category: Category
    reason: str
    """A sentence for the record: what made it a block, and what put it into the category."""


class DiscoveryRule(Plugin):
    """A plugin of the kind `discovery-rule`."""

    kind = Kind.DISCOVERY_RULE

    @abstractmethod
    def discover(self, classes: Sequence[ClassDescription]) -> Sequence[Proposal]:
        """Judges a batch of classes, 1,000 at most.

        An exception fails the batch, and the host then looks for the class at fault by asking about parts of
        it. A class that the rule does not understand is better left out with a message in the log.
        """
