from functools import partial

from registry import HEADS

from .. import models


@HEADS.register_module("head")
class Head:
    def build(self):
        from .block import Block as Local

        return Local(-1, layer=partial(Head, 3)), models.Block()


def unrelated(Block):
    # A parameter, not the class.
    return Block(2)


def narrow(width):
    return Head(width, norm=NORM)


NORM = partial(Local, width)
width = 64


def wide(depth, heads=4, size=2 * width):
    norm = partial(Local, size)
    twice = 1
    for index in range(depth):
        twice = index * 2
        Head(size, norm=norm, heads=heads, twice=twice, index=index)

    def inner(heads):
        return [Head(size, heads=heads) for size in (1, 2)]

    return inner
