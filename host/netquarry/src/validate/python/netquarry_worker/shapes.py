"""Shapes that the first input of a forward pass may have: from the layers of a model, and from error messages."""

import math
import re

from netquarry_worker import checks

BATCH = 2
# A grid of 8 by 8.
TOKENS = 64
SIDE = 32
# Nodes and edges of a graph.
NODES = 16
EDGES = 32
# How many layers are looked at.
LAYERS = 3
# Channels beyond this are no channels.
MOST_CHANNELS = 2048

# A larger input takes longer than it is likely to be right.
MOST_ELEMENTS = 1 << 23

# Where nothing in the model tells: a picture, feature maps, a sequence, a vector.
COMMON = ((BATCH, 3, SIDE, SIDE), (BATCH, 64, SIDE, SIDE), (BATCH, TOKENS, 64), (BATCH, 64))
# Pictures that some models insist on.
PICTURES = ((BATCH, 3, 224, 224), (BATCH, 3, 35, 35), (BATCH, 3, 256, 256), (3, SIDE, SIDE))

WIDTH = re.compile(r"channel|dim|plane|chs|feature|hidden|size|width|^c1$")


def candidates(model, constructor):
    """Shapes, likeliest first: what the first layers take, what is common, and what the constructor's sizes suggest."""
    found = []
    for layer in model.modules():
        shapes = for_layer(layer)
        if shapes and shapes not in found:
            found.append(shapes)
        if len(found) == LAYERS:
            break
    widths = [
        int(size)
        for name, expression in constructor.items()
        if WIDTH.search(name)
        for size in re.findall(r"\b\d+\b", expression)
    ]
    widths = [width for width in dict.fromkeys([*widths, 64, 3]) if 2 <= width <= MOST_CHANNELS][:3]
    suggested = (shape for width in widths for shape in of_width(width))
    return list(dict.fromkeys([*(shape for shapes in found for shape in shapes), *COMMON, *suggested, *PICTURES]))


def is_small(shape):
    return 0 < math.prod(shape) <= MOST_ELEMENTS


def of_width(width):
    """Of every rank, with so many channels."""
    return (
        (BATCH, width, SIDE, SIDE),
        (BATCH, TOKENS, width),
        (BATCH, width),
        (BATCH, 8, 8, width),
        (BATCH, width, SIDE),
        (BATCH, width, 8, SIDE, SIDE),
        (BATCH, width, 8, 8),
        (BATCH, 49, width),
        (BATCH, 196, width),
        (NODES, width),
    )


def for_layer(layer):
    """Shapes that a layer with weights could take; none for any other module."""
    import torch.nn as nn

    match layer:
        case nn.Conv2d() | nn.ConvTranspose2d():
            # Pictures come large where a model pools a lot; feature maps never do.
            sides = (SIDE, 224) if layer.in_channels <= 4 else (SIDE, 64)
            return [(BATCH, layer.in_channels, side, side) for side in sides]
        case nn.Conv1d() | nn.ConvTranspose1d():
            return [(BATCH, layer.in_channels, SIDE)]
        case nn.Conv3d() | nn.ConvTranspose3d():
            return [(BATCH, layer.in_channels, 8, SIDE, SIDE), (BATCH, layer.in_channels, 16, 112, 112)]
        case nn.Linear():
            return around_last(layer.in_features)
        case nn.LayerNorm() if len(layer.normalized_shape) == 1:
            return around_last(layer.normalized_shape[0])
        case nn.LayerNorm():
            return [(BATCH, *layer.normalized_shape)]
        case nn.BatchNorm1d():
            return [(BATCH, layer.num_features), (BATCH, layer.num_features, TOKENS)]
        case nn.BatchNorm2d() | nn.InstanceNorm2d():
            return [(BATCH, layer.num_features, SIDE, SIDE)]
        case nn.BatchNorm3d() | nn.InstanceNorm3d():
            return [(BATCH, layer.num_features, 8, 8, 8)]
        case nn.GroupNorm():
            return [(BATCH, layer.num_channels, SIDE, SIDE)]
        case nn.RNNBase():
            return [(BATCH, TOKENS, layer.input_size)]
        case nn.RNNCellBase():
            return [(BATCH, layer.input_size)]
        case nn.MultiheadAttention():
            return [(BATCH, TOKENS, layer.embed_dim)]
    return of_unknown(layer)


def of_unknown(layer):
    """For a layer of the block's own that says how many channels it takes, or of how many dimensions it is."""
    names = ("in_channels", "in_features", "num_features", "num_channels", "input_size")
    width = next((getattr(layer, name) for name in names if type(getattr(layer, name, None)) is int), None)
    dimensions = re.search(r"([123])d", type(layer).__name__, re.IGNORECASE)
    if width is None and dimensions is None:
        return []
    width = width if width and 0 < width <= MOST_CHANNELS else 64
    match dimensions and dimensions.group(1):
        case "1":
            return [(BATCH, width, SIDE), (BATCH, width)]
        case "2":
            return [(BATCH, width, SIDE, SIDE), (BATCH, 8, 8, width)]
        case "3":
            return [(BATCH, width, 8, SIDE, SIDE)]
    return around_last(width) if "Linear" in type(layer).__name__ else []


def around_last(features):
    return [(BATCH, TOKENS, features), (BATCH, features), (BATCH, 8, 8, features), (BATCH, features, 8, 8)]


def width_of(shape):
    """The channels of pictures and volumes stand second, those of anything else last."""
    return shape[1] if len(shape) >= 4 else shape[-1]


def of_rank(dimensions, width):
    shapes = {
        1: [(width,)],
        2: [(BATCH, width), (NODES, width)],
        3: [(BATCH, TOKENS, width), (BATCH, width, SIDE)],
        4: [(BATCH, width, SIDE, SIDE), (BATCH, 8, 8, width)],
        5: [(BATCH, width, 8, SIDE, SIDE)],
    }
    return shapes.get(dimensions, [])


RANKS = (
    r"xpected (\d)D .*but got",
    r"list of (\d)d tensors",
    r"only (\d)D tensors",
    r"Expected (\d)-dim",
    r"expected to be (\d)D|expects? (?:a )?(\d)D|xpected (\d)D \(",
    r"(?:not enough|too many) values to unpack \(expected (\d)",
    r"input\.dim\(\) == (\d)|must be (\d)-dimensional|(\d)-dimensional input",
)


# Of what is put together, or added.
SIZES_DIFFER = re.compile(r"Sizes of tensors must match|The size of tensor a \(\d+\) must match")


def repaired(shape, message):
    """What an error message asks for, when `shape` was the input."""
    if match := re.search(r"expected input\[\d+, (\d+), [\d, ]+\] to have (\d+) channels", message):
        # The block moves the last dimension to the second place.
        if len(shape) == 4 and int(match.group(1)) == shape[-1] != shape[1]:
            yield (shape[0], *shape[2:], int(match.group(2)))
    if match := re.search(r"to have (\d+) channels", message) or re.search(r"should contain (\d+) elements", message):
        channels = int(match.group(1))
        if shape[-1] == channels and len(shape) == 4:
            yield (shape[0], channels, *shape[1:3])
        yield (shape[0], channels, *shape[2:])
    if match := re.search(r"cannot be multiplied \(\d+x\d+ and (\d+)x\d+\)", message):
        yield (*shape[:-1], int(match.group(1)))
    if match := re.search(r"normalized_shape=\[(\d+)\]", message):
        yield (*shape[:-1], int(match.group(1)))
    if match := re.search(r"doesn't match model \((\d+)", message):
        yield (*shape[:-2], int(match.group(1)), int(match.group(1)))
    for pattern in RANKS:
        if match := re.search(pattern, message):
            dimensions = int(next(group for group in match.groups() if group))
            yield from of_rank(dimensions, width_of(shape))
            break
    if match := re.search(r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\)", message):
        yield from (tuple(resized) for resized in of_sizes(shape, *map(int, match.groups())))
    if match := re.search(r"split_sizes to sum exactly to (\d+).*split_sizes=\[([\d, ]+)\]", message):
        wanted = sum(int(size) for size in match.group(2).split(","))
        yield tuple(wanted if size == int(match.group(1)) else size for size in shape)
    if match := re.search(r"shape '\[([-\d, ]+)\]' is invalid for input of size", message):
        yield from of_view(shape, [int(size) for size in match.group(1).split(",")])
    if "index out of range" in message or "Padding size should be less" in message or "too small" in message:
        if len(shape) == 4:
            yield (*shape[:2], 224, 224)
    if match := re.search(r"range of \[-\d, (\d)\], but got (\d)|too many indices for tensor of dimension (\d)", message):
        last, asked, had = (group and int(group) for group in match.groups())
        yield (*shape, *[shape[-1]] * (1 if had is not None else asked - last))
    if "must match except in dimension 1." in message and len(shape) >= 4:
        # What rounds up and what rounds down come to one size where the sides are odd.
        if all(side % 2 == 0 for side in shape[2:]):
            yield (*shape[:2], *(side - 1 for side in shape[2:]))


def that_meet(shape, unmet):
    """What the checks wanted that failed."""
    for check in unmet:
        place = checks.dimension(check.node)
        if checks.is_rank(check.node):
            yield from of_rank(check.wanted, width_of(shape))
        elif isinstance(check.wanted, type) or checks.counted(check.node) or check.wanted <= 0:
            continue
        elif place is not None and -len(shape) <= place < len(shape):
            place %= len(shape)
            yield (*shape[:place], check.wanted, *shape[place + 1 :])
        else:
            for resized in of_sizes(shape, check.found, check.wanted):
                yield tuple(resized)


def halved(sides, times):
    return [max(1, side >> times) for side in sides]


def beside_others(shape, message):
    """For one of the inputs that a block puts together: the channels that are left beside those of the others."""
    if match := re.search(r"to have (\d+) channels, but got (\d+) channels", message):
        wanted, got = (int(count) for count in match.groups())
        channels = wanted - (got - shape[1]) if len(shape) >= 3 else 0
        if 0 < channels != shape[1]:
            yield (shape[0], channels, *shape[2:])
    if match := re.search(r"dims: \((\d+), (\d+)\) - computed output dims: \((\d+), (\d+)\)", message):
        if len(shape) == 4:
            yield (*shape[:2], int(match.group(3)), int(match.group(4)))
    if match := re.search(r"not valid: got: (\d+) [Ee]xpected: (\d+)", message):
        yield tuple(int(match.group(2)) if size == int(match.group(1)) else size for size in shape)


def is_taken_apart(shape, message):
    """Whether the block took the first dimension for a list of inputs: it missed a dimension of those that there are."""
    match = re.search(r"not enough values to unpack \(expected (\d), got (\d)\)", message)
    if match:
        return int(match.group(1)) == len(shape) == int(match.group(2)) + 1
    match = re.search(r"got input of size: \[([\d, ]+)\]", message)
    return bool(match) and match.group(1) == ", ".join(map(str, shape[1:]))


def of_sizes(shape, first, second):
    """With the second size in the place of the first, or of the tokens of a sequence."""
    for position, size in enumerate(shape[1:], start=1):
        if size == first:
            yield [*shape[:position], second, *shape[position + 1 :]]
    if len(shape) == 3 and shape[1] not in (first, second):
        yield [shape[0], second, shape[2]]


def of_view(shape, wanted):
    """Tokens that make the grid into which a sequence is to be brought, and sides that are whole numbers of windows."""
    if len(shape) == 4 and len(wanted) == 6 and all(size > 0 for size in wanted):
        batch, *sizes = wanted
        if sizes[0] == shape[1]:
            yield (batch, sizes[0], sizes[1] * sizes[2], sizes[3] * sizes[4])
        if sizes[-1] == shape[-1]:
            yield (batch, sizes[0] * sizes[1], sizes[2] * sizes[3], sizes[-1])
    if len(shape) == 3 and len(wanted) >= 4 and wanted[1] > 0 and wanted[2] > 0:
        yield (shape[0], wanted[1] * wanted[2], shape[2])
    if len(shape) == 3:
        yield from ((shape[0], tokens, shape[2]) for tokens in (64, 49, 196, 1024) if tokens != shape[1])
