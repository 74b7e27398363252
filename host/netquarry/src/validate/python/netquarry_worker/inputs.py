"""Finding what `forward` takes: a shape for the first tensor, and from it, by name and annotation, everything else.

Inputs are Python expressions, as constructor arguments are, so that whoever reads the record can repeat the pass.
"""

import collections
import enum
import heapq
import inspect
import itertools
import re
import types

from netquarry_worker import arguments, checks, constructions, guesses, memory, shapes

TRIES = 60
# Of a model that is not the first one for its block.
TRIES_OF_LATER = 20
# How much less likely an attempt is for each shape before it, by what an error message asked for (of all inputs, or of
# one of several), and with another kind of input for a parameter.
RANK = 0.15
REPAIRED = 0.05
REPAIRED_ALONE = 0.2
ANOTHER_KIND = 0.6
SAID_AGAIN = 0.2

# By name and annotation of the parameter; the first rule of which both match decides. The texts are tried in order.
# `{tensor}` is a tensor of the shape that is being tried, `{shape}` that shape, `{pair}` its first two sizes; `{batch}`,
# `{width}`, `{grid}`, `{height}` and `{breadth}` are parts of it.
INPUT_RULES = (
    # Graphs.
    (r"(hyper)?edge_index|adj_t", r"", ("torch.randint(0, 16, (2, 32))",)),
    (r"edge_(attr|feats?)", r"", ("torch.randn(32, {width})",)),
    (r"edge_weight", r"", ("torch.rand(32)", "None")),
    (r"batch", r"", ("torch.zeros(16, dtype=torch.long)", "{tensor}", "8")),
    (r"(edge_|node_)?(type|types|type_vec)|index", r"", ("torch.randint(0, 2, (32,))", "torch.randint(0, 2, (16,))")),
    (r"adj", r"", ("torch.ones(2, 16, 16)", "torch.ones(2, 64, 64)")),
    # Boxes.
    (
        r"(.*_)?rois?",
        r"",
        (
            "torch.tensor([[0., 1., 1., 8., 8.], [1., 2., 2., 9., 9.]])",
            "[torch.tensor([[1., 1., 8., 8.]]), torch.tensor([[2., 2., 9., 9.]])]",
        ),
    ),
    (
        r"(.*_)?(bbox|boxe?)(es|s)?",
        r"",
        (
            "torch.tensor([[1., 1., 8., 8.], [2., 2., 9., 9.]])",
            "[torch.tensor([[1., 1., 8., 8.]]), torch.tensor([[2., 2., 9., 9.]])]",
            "{tensor}",
        ),
    ),
    # Several tensors.
    (r".*", r"(Dict|dict|Mapping)\[.*Tensor", ("{{'0': {tensor}, '1': {tensor}}}", "{{'out': {tensor}, 'aux': {tensor}}}")),
    (
        r".*",
        r"^(typing\.)?(Optional\[)?(typing\.)?(List|list|Sequence|Tuple|tuple|Iterable)\b.*Tensor",
        ("[{tensor}, {tensor}]", "[{tensor}]", "[{tensor}, {tensor}, {tensor}]", "[{tensor}, {tensor}, {tensor}, {tensor}]"),
    ),
    (
        r"features|inputs|feats|xs|x_list|outputs|preds",
        r"",
        (
            "{tensor}",
            "[{tensor}, {tensor}]",
            "[{tensor}]",
            "[{tensor}, {tensor}, {tensor}]",
            "[{tensor}, {tensor}, {tensor}, {tensor}]",
        ),
    ),
    # Numbers.
    (r".*", r"^int$", ("{height}", "1")),
    (r".*", r"^float$", ("0.5",)),
    (r".*", r"^bool$", ("False",)),
    (r".*", r"^str$", ("''",)),
    (r".*", r"^(typing\.)?(List|list|Sequence)\[.*(Tuple|tuple)\b.*\bint", ("[{grid}] * {batch}",)),
    (r".*", r"(Tuple|tuple)\b.*\bint", ("{grid}", "(32, 32)", "{shape}")),
    (r"h|height|h_size", r"", ("{height}", "{tensor}")),
    (r"w|width|w_size", r"", ("{breadth}", "{tensor}")),
    (r"(.*_)?(size|shape|resolution|hw|input_dimensions)", r"", ("{grid}", "(32, 32)", "{shape}")),
    # What may be left away, and what is no random tensor.
    (
        r"(.*_)?mask|.*_bias|memory_key_padding_mask|pos(_embed)?|rope|freqs|hx|state",
        r"",
        ("None", "{tensor}", "torch.ones({pair}, dtype=torch.bool)"),
    ),
    (
        r"targets?|labels?|y_true|gt(_.*)?",
        r"",
        ("{target}", "torch.zeros({pair})", "torch.rand({shape})", "torch.zeros(({batch},), dtype=torch.long)"),
    ),
    (r"(.*_)?(ids|idx|indices|tokens)|text", r"", ("torch.zeros({pair}, dtype=torch.long)", "{tensor}")),
    (
        r".*",
        r"",
        (
            "{tensor}",
            "torch.randint(0, 8, {pair})",
            "torch.rand({shape})",
            "torch.randint(0, 255, {shape}, dtype=torch.uint8)",
            "[{tensor}, {tensor}]",
        ),
    ),
)

# Of the tensors in a list that a check asks for.
MOST_TENSORS = 8
# How deep the arguments of arguments go.
DEPTH = 2
NO_TENSOR = re.compile(
    r"Tensor.*\b(but got|not) (int|float|tuple|NoneType)\b|'(int|float|tuple|NoneType)' object has no attribute"
)

GRAPH = re.compile(r"(hyper)?edge_index|adj_t")


def run_forward(model, constructor, given, seed, tries=TRIES, suggested=None):
    """Runs a forward pass; returns the evidence for the record. `given` are inputs that hold; those that are `suggested`
    are tried first, as they are."""
    if constructions.is_set_up(model):
        model.eval()
    parameters = parameters_of(model)
    required = [parameter for parameter in parameters if arguments.is_required(parameter) or parameter.name in given]
    # `forward(self, *inputs)` and `forward(self, x=None)` do little without anything.
    required = required or [parameter for parameter in parameters if parameter.kind is not parameter.VAR_KEYWORD][:1]
    search = Search(model, constructor, required, given)
    first_error = last_error = unusable = None
    if suggested:
        named = [parameter for parameter in parameters if parameter.name in suggested]
        try:
            expressions = {parameter.name: (suggested | given)[parameter.name] for parameter in named}
            return pass_through(model, named, expressions, seed)
        except Exception as error:
            memory.look_at(error)
            if arguments.no_fault_of_arguments(error):
                raise
            first_error = last_error = error
            unusable = unusable_output(error)
    for _ in range(tries):
        attempt = search.next()
        if attempt is None:
            break
        try:
            return pass_through(model, required, attempt.expressions, seed)
        except Exception as error:
            memory.look_at(error)
            if arguments.no_fault_of_arguments(error) or covers(given, required):
                raise
            first_error = first_error or error
            last_error = error
            unusable = unusable or unusable_output(error)
            search.learn(attempt, error)
    what = f"no forward pass had an output to go by: {unusable}" if unusable else "no inputs were found that a forward pass takes"
    note = arguments.not_found(what, len(search.tried), last_error, first_error)
    raise arguments.NotFound(note, first_error, guessed=True)


class NotFinite(ArithmeticError):
    """An output has numbers that are none, or are infinite."""


def unusable_output(error):
    """What was wrong with the output of a forward pass, where there was one."""
    return str(error) if isinstance(error, (arguments.NotFound, NotFinite)) else None


def pass_through(model, required, expressions, seed):
    import torch

    seed()
    values = evaluate(model, required, expressions)
    with torch.no_grad():
        output = call_forward(model, required, values)
    return {"forward_arguments": expressions, **evidence(values, output)}


# `choice` has, by parameter, the place of the text that is not the first one for it, and `own` the shape that is not that
# of all others.
Attempt = collections.namedtuple("Attempt", "cost, shape, choice, own, expressions")


class Search:
    """What to try next, best first: other shapes, and other kinds of inputs for a shape."""

    def __init__(self, model, constructor, required, given):
        self.block = type(model)
        self.widths = widths_of(model)
        self.required = required
        self.given = given
        self.tried = set()
        self.queue = []
        self.order = itertools.count()
        self.said = collections.Counter()
        # Of parameters, the sequences that a check asked for.
        self.kinds = {}
        classes = classes_of(type(model))
        self.texts = {parameter.name: texts_for(parameter, classes) for parameter in required}
        # So many of them are for any shape; those behind them were learnt of one.
        self.usual = {name: len(texts) for name, texts in self.texts.items()}
        found = shapes.candidates(model, constructor)
        if any(GRAPH.fullmatch(parameter.name) for parameter in required):
            found = sorted(found, key=lambda shape: len(shape) != 2)
            found = [(shapes.NODES, *shape[1:]) for shape in found]
        for rank, shape in enumerate(found):
            self.push(rank * RANK, shape, {}, {})

    def push(self, cost, shape, choice, own):
        if shapes.is_small(shape) and all(map(shapes.is_small, own.values())):
            heapq.heappush(self.queue, (cost, next(self.order), shape, choice, own))

    def next(self):
        while self.queue:
            cost, _, shape, choice, own = heapq.heappop(self.queue)
            expressions = self.expressions(shape, choice, own)
            key = tuple(expressions.items())
            if key not in self.tried:
                self.tried.add(key)
                return Attempt(cost, shape, choice, own, expressions)
        return None

    def learn(self, attempt, error):
        cost, shape, choice, own, _ = attempt
        message = str(error)
        unmet = checks.unmet_by(error, self.block)
        # What has been said before was no progress.
        cost += SAID_AGAIN * self.said[message]
        self.said[message] += 1
        for repaired in (*shapes.repaired(shape, message), *shapes.that_meet(shape, unmet)):
            self.push(cost + REPAIRED, repaired, choice, own)
        tensors = [parameter.name for parameter in self.required if self.is_tensor(parameter, choice)]
        for name in tensors if len(tensors) > 1 else ():
            alone = own.get(name, shape)
            suggested = (shapes.repaired(alone, message), shapes.beside_others(alone, message), shapes.that_meet(alone, unmet))
            for repaired in itertools.chain(*suggested):
                self.push(cost + REPAIRED_ALONE, shape, choice, own | {name: repaired})
        self.learn_lengths(attempt, unmet)
        if shapes.SIZES_DIFFER.search(message):
            self.learn_pyramids(attempt)
        is_taken_apart = shapes.is_taken_apart(shape, message)
        is_no_tensor = NO_TENSOR.search(message)
        for parameter in self.required:
            if parameter.name in self.given or parameter.name in choice:
                continue
            first, *others = self.texts[parameter.name][: self.usual[parameter.name]]
            for place, text in enumerate(others, start=1):
                is_likely = (is_taken_apart and text.startswith("[")) or (
                    is_no_tensor and "{tensor}" in text and "{tensor}" not in first
                )
                further = REPAIRED if is_likely else ANOTHER_KIND + RANK * place
                self.push(cost + further, shape, choice | {parameter.name: place}, own)

    def learn_lengths(self, attempt, unmet):
        """Of a sequence that has to be as long as a check wanted, or to be one at all."""
        kinds = {guesses.name_of(each.node): each.wanted for each in unmet if isinstance(each.wanted, type)}
        self.kinds |= kinds
        lengths = [(checks.counted(each.node), each.wanted, each.widths) for each in unmet]
        # As long as the tensor is, of which the check wanted nothing else.
        first = [(name, attempt.shape[0], ()) for name in kinds if all(name != other for other, _, _ in lengths)]
        for name, count, widths in (*lengths, *first):
            if name in self.texts and name not in self.given and 0 < count <= MOST_TENSORS:
                self.push_lists(attempt, name, count, widths)

    def learn_pyramids(self, attempt):
        """Of lists of tensors of one size, where a block brings them to one size that they do not have then."""
        for parameter in self.required:
            count = self.texts[parameter.name][attempt.choice.get(parameter.name, 0)].count("{tensor}")
            if count > 1 and parameter.name not in self.given:
                self.push_lists(attempt, parameter.name, count, ())

    def push_lists(self, attempt, name, count, widths):
        cost, shape, choice, own, _ = attempt
        widths = widths or (self.widths if len(self.widths) == count else ())
        for text in lists(shape, count, widths, self.kinds.get(name, list)):
            if text not in self.texts[name]:
                self.texts[name] = (*self.texts[name], text)
            self.push(cost + REPAIRED, shape, choice | {name: self.texts[name].index(text)}, own)

    def is_tensor(self, parameter, choice):
        text = self.texts[parameter.name][choice.get(parameter.name, 0)]
        return parameter.name not in self.given and "{tensor}" in text

    def expressions(self, shape, choice, own):
        return {
            parameter.name: self.given.get(parameter.name)
            or filled(self.texts[parameter.name][choice.get(parameter.name, 0)], own.get(parameter.name, shape))
            for parameter in self.required
        }


def texts_for(parameter, classes, depth=0):
    """`classes` are those that annotations may name."""
    name, annotation = parameter.name.lower(), arguments.annotation_of(parameter)
    by_rule = next(
        texts
        for of_name, of_annotation, texts in INPUT_RULES
        if re.fullmatch(of_name, name) and re.search(of_annotation, annotation)
    )
    named = [word for word in re.findall(r"[A-Za-z_]\w*", annotation) if word in classes]
    if depth > DEPTH:
        return by_rule
    instances = (instance_of(each, classes, depth) for each in dict.fromkeys(named))
    return (*instances, *by_rule)


def classes_of(block):
    """The classes of the block's module, by name, of which a forward pass may take an instance."""
    import torch

    members = arguments.scope_of(block).items()
    others = (str, int, dict, enum.Enum, torch.nn.Module, torch.Tensor)
    return {
        name: member
        for name, member in members
        if isinstance(member, type)
        and member.__module__ == block.__module__
        and not issubclass(member, others)
        and not inspect.isabstract(member)
        and not getattr(member, "_is_protocol", False)
    }


def instance_of(name, classes, depth):
    named = classes[name]
    required = [parameter for parameter in arguments.signature(named) if arguments.is_required(parameter)]
    texts = {parameter.name: texts_for(parameter, classes, depth + 1)[0] for parameter in required}
    return f"{name}({', '.join(f'{parameter}={text}' for parameter, text in texts.items())})"


def widths_of(model):
    """Those of the several inputs that a block says to take."""
    widths = getattr(model, "in_channels", None)
    is_several = isinstance(widths, (list, tuple)) and all(type(width) is int and width > 0 for width in widths)
    return tuple(widths) if is_several else ()


def lists(shape, count, widths, kind):
    """Sequences of tensors: each half as high and wide as the one before, and all of one size; as wide as `widths` say."""
    if len(shape) < 4:
        yield sequence(["{tensor}"] * count, kind)
        return
    for factor in (1, 0):
        channels = enumerate(widths or [shape[1]] * count)
        sizes = [(shape[0], width, *shapes.halved(shape[2:], factor * level)) for level, width in channels]
        if all(map(shapes.is_small, sizes)):
            yield sequence((f"torch.randn({size})" for size in sizes), kind)


def sequence(texts, kind):
    inside = ", ".join(texts)
    return f"({inside},)" if kind is tuple else f"[{inside}]"


def filled(text, shape):
    grid = grid_of(shape)
    target = f"torch.zeros({shape})" if len(shape) > 2 else f"torch.zeros({shape[0]}, dtype=torch.long)"
    return text.format(
        tensor=f"torch.randn({shape})",
        shape=shape,
        batch=shape[0],
        pair=shape[:2],
        width=shapes.width_of(shape),
        grid=grid,
        height=grid[0],
        breadth=grid[1],
        target=target,
    )


def grid_of(shape):
    """Height and width of a picture, and of the square that the tokens of a sequence fill."""
    if len(shape) >= 4:
        return shape[-2:]
    side = round(shape[1] ** 0.5) if len(shape) == 3 else 0
    return (side, side) if side * side == shape[min(1, len(shape) - 1)] else (8, 8)


def repeat_forward(model, expressions):
    """The output of a forward pass with the inputs that `expressions` make; whoever calls has seeded."""
    positional, keywords = bound(model, expressions)
    return model(*positional.values(), **keywords)


def parameters_of(model):
    return list(inspect.signature(model.forward).parameters.values())


def evaluate(model, parameters, expressions):
    """The values of the expressions, made in the order of the parameters: random ones depend on it."""
    scope = arguments.scope_of(type(model))
    return {parameter.name: arguments.evaluate(expressions[parameter.name], scope) for parameter in parameters}


def covers(given, required):
    return bool(given) and all(parameter.name in given for parameter in required)


def call_forward(model, required, values):
    positional, keywords = bound_values(model, required, values)
    return model(*positional.values(), **keywords)


def bound(model, expressions):
    """What a forward pass is given by position and by name, each by the name of its parameter; whoever calls has seeded."""
    parameters = [parameter for parameter in parameters_of(model) if parameter.name in expressions]
    return bound_values(model, parameters, evaluate(model, parameters, expressions))


def bound_values(model, required, values):
    """Values are given by position, up to the first parameter that has none; those behind it by name."""
    names = [parameter.name for parameter in parameters_of(model)]
    given = list(itertools.takewhile(values.__contains__, names))
    positional, keywords = {}, {}
    for parameter in required:
        by_name = parameter.kind is parameter.POSITIONAL_OR_KEYWORD and parameter.name not in given
        if by_name or parameter.kind is parameter.KEYWORD_ONLY:
            keywords[parameter.name] = values[parameter.name]
        else:
            positional[parameter.name] = values[parameter.name]
    return positional, keywords


def evidence(values, output):
    import torch

    # Where there are tensors in plain sight, those in objects beside them are a matter of their own.
    outputs = list(tensors_in(output, "")) or list(tensors_in(output, "", seen=set()))
    inputs = [each for key in values for each in tensors_in(values[key], key, seen=set())]
    if not outputs:
        raise arguments.NotFound(f"the forward pass gave no tensor but {type(output).__name__!r}")
    for name, tensor in outputs:
        if tensor.is_floating_point() and not torch.isfinite(tensor).all():
            raise NotFinite(f"the output {name or 'itself'} is not finite")
    with_tensors = {name.partition(".")[0] for name, _ in inputs}
    plain = {name: value for name, value in values.items() if value is None or type(value) in (int, float, bool, tuple)}
    return {
        "forward_inputs": [shape_of(name, tensor) for name, tensor in inputs],
        "forward_outputs": [shape_of(name or "output", tensor) for name, tensor in outputs],
        "notes": [f"forward({name}={value!r})" for name, value in plain.items() if name not in with_tensors],
    }


def tensors_in(value, path, depth=0, seen=None):
    """The tensors of a nested output, each with its dotted path. Where `seen` is a set, attributes of objects count too, of
    each object once."""
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
        elif seen is not None and is_plain_object(value) and id(value) not in seen:
            seen.add(id(value))
            items = list(vars(value).items())
        else:
            return
        for key, item in items:
            yield from tensors_in(item, f"{path}.{key}" if path else str(key), depth + 1, seen)


def is_plain_object(value):
    import torch

    others = type | types.ModuleType | torch.nn.Module
    return hasattr(value, "__dict__") and not isinstance(value, others) and not callable(value)


def shape_of(name, tensor):
    return {"name": name, "shape": list(tensor.shape), "dtype": str(tensor.dtype).removeprefix("torch.")}
