"""What a name stands for depends on where it stands."""

from .block import Block

size = 8
base = 32
half = base // 2


def rebinds_what_a_value_uses(size=64):
    norm = dict(size=size)
    return [Block(size, norm=norm) for size in (8, 16)]


def default_uses_a_global(size=64, hidden=size * 4):
    return Block(size, hidden=hidden)


def default_is_outside(size=64, block=Block(size)):
    return block


def iterates_outside(size):
    return [Block(size) for size in [Block(size).size]]


def fills_a_list(depth=3):
    layers, plan, widths = [], {}, [1, 2]
    for _ in range(depth):
        layers.append(depth)
    plan["deep"] = True
    return Block(layers, plan=plan, widths=widths)


def rebinds_inside(width=3):
    def wider():
        nonlocal width
        width *= 2

    wider()
    return Block(width)


def needs_a_parameter(norm, depth=2):
    layer = dict(norm=norm, depth=depth)
    deep = depth * 2
    return Block(layer, deep=deep)


def over_lines():
    first, [second, _] = 1, (2, 3)
    width = (
        base  # of all
        + half
    )
    for index in 4, 5:
        Block(width, first=first, second=second, index=index)


def calls(base=1):
    """`half` is made of another `base`."""
    return Block(half, base=base)
