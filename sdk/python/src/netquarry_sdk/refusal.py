"""Why a plugin gives no answer."""

from enum import Enum


class RefusalCase(Enum):
    """The cases of the contract."""

    INPUT = "input"
    UNSUPPORTED = "unsupported"
    HOST = "host"
    OTHER = "other"


class Refusal(Exception):  # noqa: N818 - the contract's word
    """Raised by a plugin that gives no answer: `raise Refusal.unsupported("acme 1 has no registry")`.

    It fails the item that the call was about, and the run goes on. The sentence is for the person who runs
    the host.
    """

    def __init__(self, case: RefusalCase, sentence: str) -> None:
        super().__init__(sentence)
        self.case = case
        self.sentence = sentence

    @classmethod
    def input(cls, sentence: str) -> "Refusal":
        """What the plugin was given breaks the contract, or means nothing."""
        return cls(RefusalCase.INPUT, sentence)

    @classmethod
    def unsupported(cls, sentence: str) -> "Refusal":
        """The input is right, and beyond what the plugin does."""
        return cls(RefusalCase.UNSUPPORTED, sentence)

    @classmethod
    def host(cls, sentence: str) -> "Refusal":
        """A function of the host refused what the plugin needs."""
        return cls(RefusalCase.HOST, sentence)

    @classmethod
    def other(cls, sentence: str) -> "Refusal":
        """Anything else."""
        return cls(RefusalCase.OTHER, sentence)
