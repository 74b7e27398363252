import torch
from torch import nn


def registered(name, *, at=dict(), **rest: frozenset()):
    def wrap(cls: type(None)) -> type(None):
        return cls
    return wrap


@registered("order", at=list())
class Order(nn.Module, metaclass=type("Meta", (type(nn.Module),), {})):
    """Calls in places where the order of the tree is not that of the text."""

    table = {str(1): int("2"), **dict(a=float(3))}

    @torch.no_grad()
    def __init__(self, width: int(4) = abs(-2), /, *sizes: max(1, 2), key: min(3, 4) = sum([5]), **rest):
        super().__init__()
        self.first = tuple(range(3)) if bool(width) else set(frozenset([1]))
        self.second = [ord(c) for c in reversed("ab") if chr(99) != c if repr(c)]
        self.third = {hex(k): oct(v) for k, v in zip([1], [2])}
        self.fourth = (lambda a=round(1.5), *, b=pow(2, 3): divmod(a, b))
        self.fifth = f"{len('x'):>{hash(2)}} and {ascii('y')!r}"
        self.sixth = (any([]) or all([])) and not callable(id)
        self.seventh = sorted("ba", key=str.lower)[slice(0, 1)][bin(2) == "":len("a")]
        self.eighth = width.bit_length().bit_length()
        (lambda: globals)()()

    async def later(self, x):
        async with open(x) as handle, iter(x) as other[vars()]:
            async for part in aiter(x):
                yield await anext(part)
            else:
                del x[next(x)]

    def forward(self, x):
        try:
            with torch.no_grad() as guard, torch.enable_grad():
                while (n := x.dim()) < x.numel():
                    x = x.unsqueeze(n)
        except (type(TypeError()), Exception) as error:
            raise RuntimeError(str(error)) from ValueError()
        else:
            assert isinstance(x, torch.Tensor), format(x)
        finally:
            print(x)
        match x.size():
            case torch.Size((1, y)) if float(y):
                x: torch.Tensor(1) = x.relu()
            case {"a": complex.real, **others} | [str() as z, *_]:
                x += x.sum()
            case None:
                for i in enumerate(x):
                    yield from map(i, x)
        return x, *filter(None, x)
