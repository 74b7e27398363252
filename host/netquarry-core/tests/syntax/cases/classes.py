"""A docstring is no statement."""
import torch.nn as nn


@MODELS.register_module(name="block", force=True)
@torch.jit.script
class Block(nn.Module, Generic[T], make(1), metaclass=abc.ABCMeta, **options):
    """The docstring."""

    expansion: int = 4
    declared: str
    first, (second, *third) = 1, (2, 3)
    __private = 5

    def __init__(self, a, /, b: int = 1, *args: str, c, d=None, **kwargs: dict) -> None:
        """Its docstring."""
        self.a = a

    @staticmethod
    def static(__x): ...

    @abc.abstractmethod
    def forward(self, x):
        """Only a docstring."""
        raise NotImplementedError("later")

    async def stream(self):
        pass

    if flag:

        def conditional(self):
            return 1

        loop = [i for i in range(3)]

    class Inner:
        def not_a_method(self):
            pass


if flag:

    class Conditional(Block):
        pass

    def conditional_function(x=1):
        raise NotImplementedError

else:
    try:

        class Conditional: ...

    except Exception:
        pass


def function():
    class Local:
        def method(self):
            pass

    return Local


@functools.lru_cache(maxsize=None)
async def coroutine(*, key): return key
