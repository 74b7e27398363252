"""Finding what a constructor takes: given by a shim, by its defaults, or guessed from names and annotations.

Arguments are Python expressions throughout, so that whoever reads the record can repeat what was done.
"""

import inspect
import re

TRIES = 16

# By name of the parameter; the first rule that matches in full decides. The expressions are tried in order. The sizes
# fit each other: channels are divisible by heads, images by patches and windows.
NAME_RULES = (
    (r"(num_|n_?)?(attention_)?heads?", ("4",)),
    (r"head_dim|dim_head|key_dim|dim_key|d_k|d_v", ("16",)),
    (r"num_groups", ("4",)),
    (r"n?_?groups|cardinality|dilations?|strides?|s", ("1", "(1, 1)")),
    (r"kernel(_sizes?)?|ks|k|dw_kernel_size", ("3", "(3, 3)", "[3]")),
    (r"padding|pad", ("1", "(1, 1)", "''")),
    (r"num_classes|n_classes|classes|nc", ("10",)),
    (r"(n_)?vocab(_size)?|num_embeddings", ("100",)),
    (r"seq_len(gth)?|(max_)?(len|length)|context_length|num_(tokens|patches|queries)|max_seq_len", ("16",)),
    (r"(n_|num_)?(layers|blocks|depths?)|n|repeats?|num_repeats", ("2", "[2, 2]", "[2, 2, 2, 2]")),
    (r"(.*_)?(channels|chs|planes|widths|dims|features|filters)(_list)?|(.*_)?out_indices", ("64", "[64, 64]")),
    (r"(n|num|nb)_.*|.*_(num|levels?|depths?|layers|blocks|repeats|count)|levels?", ("2", "[2, 2]")),
    (r"(.*_)?(window|win)(_size)?|ws", ("4", "(4, 4)")),
    (r"patch(_size)?", ("4", "(4, 4)")),
    (r"(img|image|input|feat|fmap|feature|grid|output)_?(size|resolution|shape)|size|resolution", ("(32, 32)", "32")),
    (r"(.*_)?drop(out|path|block)?(_?(rate|prob|path))?s?|p|prob|.*_p(rob)?|.*_drop(out)?", ("0.0",)),
    (r"eps|epsilon", ("1e-05",)),
    (r"(.*_)?(ratio|reduction|expansion|expand|factor|multiplier)s?|r|e", ("2", "0.5")),
    (r"alpha|beta|gamma|temperature|smoothing|momentum|margin|threshold|sigma|lamb?da|init_values?", ("0.5",)),
    (
        r"(.*_)?(act|activation|nonlinearity)(_layer|_fn|_func(tion)?|_cfg)?",
        ("torch.nn.ReLU", "torch.nn.ReLU()", "'relu'"),
    ),
    (r"(.*_)?norm(_layer|_fn|_func|alization)?", ("torch.nn.BatchNorm2d", "torch.nn.LayerNorm", "torch.nn.Identity")),
    (r"conv(_layer)?", ("torch.nn.Conv2d", "torch.nn.Identity()")),
    (
        r"module|fn|func|function|model|backbone|body|encoder|decoder|(.*_)?net(work)?|layer|block|attn|mlp|head|neck",
        ("torch.nn.Identity()", "torch.nn.Identity"),
    ),
    (
        r"(use|with|is|has|do|enable|no)_.*|(.*_)?bias|inplace|training|pre_norm|shortcut|residual|causal",
        ("False", "True"),
    ),
    (r"mode|.*_mode", ("'bilinear'", "'same'")),
)

# By what the annotation mentions, for names that no rule knows.
ANNOTATION_RULES = (
    (r"^Optional\b|\bNone$", ("None",)),
    (r"bool", ("False", "True")),
    (r"(List|list|Sequence|Iterable)\b.*\bint", ("[64, 64]", "[2, 2, 2, 2]")),
    (r"(Tuple|tuple)\b.*\bint", ("(32, 32)", "(4, 4)")),
    (r"(List|list|Sequence|Iterable)\b.*\bfloat", ("[0.5, 0.5]",)),
    (r"(Type|type|Callable)\b|LayerType", ("torch.nn.ReLU", "torch.nn.Identity", "torch.nn.BatchNorm2d")),
    (r"Module", ("torch.nn.Identity()",)),
    (r"Tensor", ("torch.ones(64)", "torch.ones(64, 64)")),
    (r"float", ("0.5", "2.0")),
    (r"str", ("'relu'", "'mean'", "''")),
    (r"(Dict|dict|Mapping)\b", ("{}",)),
    (r"int", ("64", "4")),
)

ANYTHING = ("64", "(64, 64)", "torch.nn.Identity()")

MISSING = re.compile(r"missing \d+ required (?:positional|keyword-only) arguments?: (.*)$")


class NotFound(Exception):
    """No arguments were found: nothing is known about the level, for or against."""

    def __init__(self, note, error=None):
        super().__init__(note)
        self.note = note
        # What the first, plainest try raised. The host looks whether that can have been the arguments' fault at all.
        self.error = error


def construct(block, given, seed):
    """An instance of `block`, and the expressions by parameter name that made it."""
    parameters = signature(block)
    takes_anything = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
    choices = {name: (expression,) for name, expression in given.items()}
    for parameter in parameters:
        if is_required(parameter) and parameter.name not in choices:
            choices[parameter.name] = expressions_for(parameter)
    guessed = [name for name in choices if name not in given]
    first_error = None
    tries = combinations(choices)
    for _ in range(TRIES):
        expressions = next(tries, None)
        if expressions is None:
            break
        try:
            seed()
            return call(block, parameters, expressions), expressions
        except Exception as error:
            if no_fault_of_arguments(error) or not (guessed or parameters):
                raise
            first_error = first_error or error
            missing = missing_names(error) - choices.keys() if takes_anything else set()
            if missing:
                choices.update({name: expressions_by_name(name) or ANYTHING for name in sorted(missing)})
                tries = combinations(choices)
    raise NotFound("no arguments were found that the constructor takes", first_error)


def signature(block):
    """The parameters of the constructor; of one that cannot be inspected, none."""
    try:
        return list(inspect.signature(block).parameters.values())
    except (ValueError, TypeError):
        return []


def is_required(parameter):
    variadic = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    return parameter.default is parameter.empty and not variadic


def expressions_for(parameter):
    annotation = annotation_of(parameter)
    by_name = expressions_by_name(parameter.name)
    by_annotation = next((found for pattern, found in ANNOTATION_RULES if re.search(pattern, annotation)), ())
    if by_name and re.search(r"(List|list|Sequence|Iterable)\b", annotation):
        return (f"[{by_name[0]}, {by_name[0]}]", *by_annotation, *by_name)
    if by_name and re.search(r"(Tuple|tuple)\b", annotation):
        return (f"({by_name[0]}, {by_name[0]})", *by_annotation, *by_name)
    if by_name and not re.search(r"^(str|bool)$|Module$", annotation):
        return by_name
    return by_annotation + by_name or ANYTHING


def expressions_by_name(name):
    return next((found for pattern, found in NAME_RULES if re.fullmatch(pattern, name.lower())), ())


def annotation_of(parameter):
    annotation = parameter.annotation
    if annotation is parameter.empty:
        return ""
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def combinations(choices):
    """The first choice of everything, then every other choice of one parameter at a time."""
    plain = {name: expressions[0] for name, expressions in choices.items()}
    yield plain
    for name, expressions in choices.items():
        for expression in expressions[1:]:
            yield {**plain, name: expression}


def call(block, parameters, expressions):
    values = {name: evaluate(expression) for name, expression in expressions.items()}
    positional = [
        values.pop(parameter.name)
        for parameter in parameters
        if parameter.kind is parameter.POSITIONAL_ONLY and parameter.name in values
    ]
    return block(*positional, **values)


def evaluate(expression):
    import torch

    return eval(expression, {"torch": torch, "nn": torch.nn})


def missing_names(error):
    match = MISSING.search(str(error)) if isinstance(error, TypeError) else None
    return set(re.findall(r"'(\w+)'", match.group(1))) if match else set()


def no_fault_of_arguments(error):
    """Whatever the arguments, an import that fails and a name that nothing binds speak against the bundle."""
    return isinstance(error, (ImportError, NameError)) and not isinstance(error, UnboundLocalError)
