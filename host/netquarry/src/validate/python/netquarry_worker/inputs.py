"""Finding what `forward` takes: shapes from the first layers, other inputs from names, repair from error messages.

Inputs are Python expressions, as constructor arguments are, so that whoever reads the record can repeat the pass.
"""

import collections
import inspect
import re

from netquarry_worker import arguments

TRIES = 20
BATCH = 2
TOKENS = 16
SIDE = 32
# How many layers are looked at.
LAYERS = 3

# Where nothing in the model tells: a picture, feature maps, a sequence, a vector.
COMMON_SHAPES = ((BATCH, 3, SIDE, SIDE), (BATCH, 64, SIDE, SIDE), (BATCH, TOKENS, 64), (BATCH, 64))

OTHER_INPUTS = (
    (r"(.*_)?mask|.*_bias|memory_key_padding_mask|pos(_embed)?|rope|freqs|hx|state", None),
    (r"h|w|height|width|h_size|w_size", 8),
    (r"(.*_)?(size|shape|resolution|hw)", (8, 8)),
    (r"targets?|labels?|y_true|gt", "target"),
    (r"(.*_)?(ids|idx|indices|tokens)", "indices"),
    (r"features|inputs|feats|xs|x_list|outputs", "maybe_list"),
)


def run_forward(model, given, seed):
    """Runs a forward pass; returns the evidence for the record."""
    import torch

    model.eval()
    parameters = parameters_of(model)
    required = [parameter for parameter in parameters if arguments.is_required(parameter) or parameter.name in given]
    # `forward(self, *inputs)` and `forward(self, x=None)` do little without anything.
    required = required or [parameter for parameter in parameters if parameter.kind is not parameter.VAR_KEYWORD][:1]
    first_error = None
    queue = collections.deque(candidate_shapes(model))
    tried = set()
    for _ in range(TRIES):
        shape = next_untried(queue, tried)
        if shape is None:
            break
        for as_list in (False, True) if has_lists(required) else (False,):
            try:
                expressions = {
                    parameter.name: expression_for(parameter, shape, given, as_list) for parameter in required
                }
                seed()
                values = evaluate(required, expressions)
                with torch.no_grad():
                    output = call_forward(model, required, values)
                return {"forward_arguments": expressions, **evidence(values, output)}
            except Exception as error:
                if arguments.no_fault_of_arguments(error) or covers(given, required):
                    raise
                first_error = first_error or error
                queue.extendleft(repaired_shapes(shape, str(error)))
    note = "no inputs were found that a forward pass takes"
    raise arguments.NotFound(note, first_error)


def repeat_forward(model, expressions):
    """The output of a forward pass with the inputs that `expressions` make; whoever calls has seeded."""
    parameters = [parameter for parameter in parameters_of(model) if parameter.name in expressions]
    return call_forward(model, parameters, evaluate(parameters, expressions))


def parameters_of(model):
    return list(inspect.signature(model.forward).parameters.values())


def evaluate(parameters, expressions):
    """The values of the expressions, made in the order of the parameters: random ones depend on it."""
    return {parameter.name: arguments.evaluate(expressions[parameter.name]) for parameter in parameters}


def next_untried(queue, tried):
    while queue:
        shape = queue.popleft()
        if shape not in tried:
            tried.add(shape)
            return shape
    return None


def covers(given, required):
    return bool(given) and all(parameter.name in given for parameter in required)


def has_lists(required):
    return any(kind_of(parameter) == "maybe_list" for parameter in required)


def call_forward(model, required, values):
    positional = [values[parameter.name] for parameter in required if parameter.kind is not parameter.KEYWORD_ONLY]
    keywords = {
        parameter.name: values[parameter.name] for parameter in required if parameter.kind is parameter.KEYWORD_ONLY
    }
    return model(*positional, **keywords)


def candidate_shapes(model):
    """Shapes that the first layers with weights could take, likeliest first."""
    found = []
    for layer in model.modules():
        shapes = shapes_for(layer)
        if shapes and shapes not in found:
            found.append(shapes)
        if len(found) == LAYERS:
            break
    return [shape for shapes in (*found, COMMON_SHAPES) for shape in shapes]


def shapes_for(layer):
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
        case nn.MultiheadAttention():
            return [(BATCH, TOKENS, layer.embed_dim)]
    return []


def around_last(features):
    return [(BATCH, TOKENS, features), (BATCH, features), (BATCH, 8, 8, features), (BATCH, features, 8, 8)]


def repaired_shapes(shape, message):
    """What an error message asks for, when `shape` was the input."""
    if match := re.search(r"to have (\d+) channels", message) or re.search(r"should contain (\d+) elements", message):
        yield (shape[0], int(match.group(1)), *shape[2:])
    if match := re.search(r"cannot be multiplied \(\d+x\d+ and (\d+)x\d+\)", message):
        yield (*shape[:-1], int(match.group(1)))
    if match := re.search(r"normalized_shape=\[(\d+)\]", message):
        yield (*shape[:-1], int(match.group(1)))
    if match := re.search(r"doesn't match model \((\d+)", message):
        yield (*shape[:-2], int(match.group(1)), int(match.group(1)))
    if match := re.search(r"xpected (\d)D .*but got|only (\d)D tensors|Expected (\d)-dim", message):
        dimensions = int(next(group for group in match.groups() if group))
        if dimensions >= 2:
            yield (*shape[: min(2, len(shape))], *[SIDE] * (dimensions - 2))[:dimensions]


def kind_of(parameter):
    name = parameter.name.lower()
    annotation = arguments.annotation_of(parameter)
    if re.search(r"(List|list|Sequence|Dict|dict)\b.*Tensor", annotation):
        return "list"
    if "Tuple" in annotation and "int" in annotation:
        return (8, 8)
    if annotation == "int":
        return 8
    if annotation == "Tensor":
        return "tensor"
    return next((kind for pattern, kind in OTHER_INPUTS if re.fullmatch(pattern, name)), "tensor")


def expression_for(parameter, shape, given, as_list):
    if parameter.name in given:
        return given[parameter.name]
    kind = kind_of(parameter)
    if kind == "list" or (kind == "maybe_list" and as_list):
        return f"[torch.randn({shape}), torch.randn({shape})]"
    if kind == "indices":
        return f"torch.zeros({shape[:2]}, dtype=torch.long)"
    if kind == "target":
        return f"torch.zeros({shape})" if len(shape) > 2 else f"torch.zeros({shape[0]}, dtype=torch.long)"
    if kind in ("tensor", "maybe_list"):
        return f"torch.randn({shape})"
    return repr(kind)


def evidence(values, output):
    import torch

    outputs = list(tensors_in(output, ""))
    if not outputs:
        raise arguments.NotFound(f"the forward pass gave no tensor but {type(output).__name__!r}")
    for name, tensor in outputs:
        if tensor.is_floating_point() and not torch.isfinite(tensor).all():
            raise ArithmeticError(f"the output {name or 'itself'} is not finite")
    plain = {name: value for name, value in values.items() if value is None or type(value) in (int, tuple)}
    return {
        "forward_inputs": [shape_of(name, tensor) for key in values for name, tensor in tensors_in(values[key], key)],
        "forward_outputs": [shape_of(name or "output", tensor) for name, tensor in outputs],
        "notes": [f"forward({name}={value!r})" for name, value in plain.items()],
    }


def tensors_in(value, path, depth=0):
    """The tensors of a nested output, each with its dotted path."""
    import torch

    if isinstance(value, torch.Tensor):
        yield path, value
    elif depth < 8:
        if isinstance(value, dict):
            items = value.items()
        elif isinstance(value, list | tuple):
            items = enumerate(value)
        elif hasattr(value, "__dataclass_fields__"):
            items = ((name, getattr(value, name)) for name in value.__dataclass_fields__)
        else:
            return
        for key, item in items:
            yield from tensors_in(item, f"{path}.{key}" if path else str(key), depth + 1)


def shape_of(name, tensor):
    return {"name": name, "shape": list(tensor.shape), "dtype": str(tensor.dtype).removeprefix("torch.")}
