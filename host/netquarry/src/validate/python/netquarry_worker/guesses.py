"""What a parameter of a constructor may take, told from its name, its annotation and the block's own source.

Guesses are Python expressions, the likeliest first. The sizes fit each other: channels are divisible by heads, pictures
by patches and windows, and 64 tokens are a grid of 8 by 8.
"""

import ast
import inspect
import re
import textwrap
from collections import defaultdict

from netquarry_worker import arguments

# By name of the parameter; the first rule that matches in full decides.
NAME_RULES = (
    (r"(num_|n_?)?(attention_)?heads?", ("4", "8", "1")),
    (r"head_dim|dim_head|key_dim|dim_key|d_k|d_v", ("16",)),
    (r"num_groups", ("4",)),
    (r"n?_?groups|cardinality|dilations?|strides?|s", ("1", "(1, 1)")),
    (r"kernel(_sizes?)?|ks|k|dw_kernel_size", ("3", "(3, 3)", "[3]")),
    (r"padding|pad", ("1", "(1, 1)", "''")),
    (r"num_classes|n_classes|classes|nc", ("10",)),
    (r"(n_)?vocab(_size)?|num_embeddings", ("100",)),
    (r"seq_len(gth)?|(max_)?(len|length)|context_length|num_(tokens|patches|queries)|max_seq_len", ("64",)),
    (r"stages?_(repeats|depths|blocks|layers)|layers|depths", ("[2, 2]", "[2, 2, 2, 2]", "2")),
    (r"(n_|num_)?(layers|blocks|depths?)|n|repeats?|num_repeats", ("2", "[2, 2]", "[2, 2, 2, 2]", "3", "4")),
    (
        r"(.*_)?(channels|chs|planes|widths|dims?|features|filters)(_list)?|(.*_)?out_indices|d_model|embed",
        ("64", "[64, 64]", "32", "256", "[64, 64, 64, 64]"),
    ),
    (r"(n|num|nb)_.*|.*_(num|levels?|depths?|layers|blocks|repeats|count)|levels?", ("2", "[2, 2]", "1", "3", "4")),
    (r"(.*_)?(window|win)(_size)?|ws", ("4", "(4, 4)", "7", "3")),
    (r"patch(_size)?", ("4", "(4, 4)")),
    (
        r"(img|image|input|feat|fmap|feature|grid|output)_?(size|resolution|shape)|size|resolution",
        ("(8, 8)", "8", "(32, 32)", "32", "224"),
    ),
    (r"(.*_)?drop(out|path|block)?(_?(rate|prob|path))?s?|p|prob|.*_p(rob)?|.*_drop(out)?", ("0.0",)),
    (r"eps|epsilon", ("1e-05",)),
    (r"((image|img|pixel)s?_)?(mean|std)", ("[0.5, 0.5, 0.5]", "0.5")),
    (r"(.*_)?(ratio|reduction|expansion|expand|factor|multiplier)s?|r|e", ("2", "0.5")),
    (r"alpha|beta|gamma|temperature|smoothing|momentum|margin|threshold|sigma|lamb?da|init_values?", ("0.5",)),
    (
        r"(.*_)?(act|activation|nonlinearity)(_layer|_fn|_func(tion)?)?",
        ("torch.nn.ReLU", "torch.nn.ReLU()", "'relu'"),
    ),
    (
        r"(.*_)?norm(_layer|_fn|_func|alization)?",
        ("torch.nn.BatchNorm2d", "torch.nn.LayerNorm", "torch.nn.Identity"),
    ),
    (r"conv(_layer|_op)?", ("torch.nn.Conv2d", "torch.nn.Identity()")),
    (
        r"module|fn|func|function|model|backbone|body|encoder|decoder|(.*_)?net(work)?|layer|block|attn|mlp|head|neck",
        ("torch.nn.Identity()", "torch.nn.Identity"),
    ),
    (r"transforms?|modules", ("[torch.nn.Identity()]", "torch.nn.Identity()")),
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
    (r"(List|list|Sequence|Iterable)\b.*\bint", ("[64, 64]", "[2, 2, 2, 2]", "[64, 64, 64, 64]")),
    (r"(Tuple|tuple)\b.*\bint", ("(8, 8)", "(4, 4)")),
    (r"(List|list|Sequence|Iterable)\b.*\bfloat", ("[0.5, 0.5]",)),
    (r"(List|list|Sequence|Iterable)\b.*(Module|Callable)", ("[torch.nn.Identity()]",)),
    (r"(Type|type|Callable)\b|LayerType", ("torch.nn.ReLU", "torch.nn.Identity", "torch.nn.BatchNorm2d")),
    (r"Module", ("torch.nn.Identity()",)),
    (r"Tensor", ("torch.ones(64)", "torch.ones(64, 64)")),
    (r"float", ("0.5", "2.0")),
    (r"str", ("'relu'", "'mean'", "''")),
    (r"(Dict|dict|Mapping)\b", ("{}",)),
    (r"int", ("64", "4")),
)

# Configurations by which a registry builds something, by the end of the parameter's name. Those that give a class itself
# need no key of the registry.
CONFIGURATION_RULES = (
    (r"norm_cfg", ("dict(type=torch.nn.BatchNorm2d)", "dict(type='BN')", "dict(type=torch.nn.LayerNorm)", "None")),
    (r"act_cfg", ("dict(type=torch.nn.ReLU)", "dict(type='ReLU')", "None")),
    (r"conv_cfg|init_cfg|train_cfg|test_cfg|data_preprocessor", ("None", "dict()")),
    (r".*cfg|.*config|.*configs", ("dict(type=torch.nn.Identity)", "dict()", "[dict(type=torch.nn.Identity)] * 2")),
)
# Annotations of such a configuration.
CONFIGURATION = re.compile(r"ConfigType|ConfigDict|^(dict|Dict)$")

# A configuration object whose class is not known; it gets its attributes as they are asked for.
NAMESPACE = "types.SimpleNamespace()"

# Attributes of configuration objects, where the rules for parameters would do worse.
ATTRIBUTE_RULES = (
    (r"intermediate_size|.*ffn_dim", ("128",)),
    (r"hidden_size|d_model|.*_dim", ("64",)),
    (r"vocab_size", ("100",)),
    (r"max_position_embeddings", ("64",)),
    (r"type_vocab_size", ("2",)),
    (r"image_size", ("32",)),
    (r"num_channels", ("3",)),
    (r"depths", ("[2, 2]",)),
    (r"num_heads", ("[2, 4]", "4")),
    (r".*(eps|epsilon)", ("1e-05",)),
    (r".*(drop|prob|rate).*", ("0.0",)),
    (r".*_id", ("0",)),
    (r".*_implementation", ("'eager'",)),
    (r"position_embedding_type", ("'absolute'",)),
    (r"chunk_size.*", ("0",)),
    (r".*act(ivation)?(_fn|_function)?", ("'gelu'",)),
    (r"initializer_.*", ("0.02",)),
    (r"(is|use|add|do|output|return|with|has|enable|gradient|tie|scale)_.*|.*bias|.*checkpoint.*", ("False",)),
)

ANYTHING = ("64", "(64, 64)", "torch.nn.Identity()")

# How deep the arguments of arguments are guessed.
DEPTH = 2
# How many literals are tried for a parameter, and in how many functions they are looked for.
LITERALS = 6
FRAMES = 3

LIST = re.compile(r"(List|list|Sequence|Iterable)\b")
TUPLE = re.compile(r"(Tuple|tuple)\b")
CONTAINER = re.compile(r"(?:List|list|Sequence|Iterable|Tuple|tuple|Dict|dict)\[[^\[\]]*\]")


class Guesser:
    """Guesses for the parameters of one block."""

    def __init__(self, block, depth=0):
        self.block = block
        self.depth = depth
        self.scope = arguments.scope_of(block)
        # Literals that the source compares a parameter with; read where the first guesses do not fit.
        self.literals = {}

    def look_at_source(self, error):
        """Takes in the literals of the block's source, and of the functions through which an error came."""
        self.literals = self.literals or literals_of(self.block)
        for name, literals in literals_on_the_way(error, self.block).items():
            self.literals[name] = tuple(dict.fromkeys((*literals, *self.literals.get(name, ()))))

    def for_parameter(self, parameter):
        """At least one expression."""
        annotation = arguments.annotation_of(parameter)
        found = [
            *self.literals.get(parameter.name, ()),
            *self.classes(parameter.name, annotation),
            *configurations(parameter.name, annotation),
            *by_name_and_annotation(parameter.name, annotation),
        ]
        return tuple(dict.fromkeys(found)) or ANYTHING

    def for_name(self, name):
        """Likewise of a parameter of which nothing but the name is known."""
        parameter = inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY)
        return self.for_parameter(parameter)

    def classes(self, name, annotation):
        """Classes of the block's module that the annotation names, or that a parameter like `block` may want."""
        import torch

        # Classes may need each other, or themselves.
        for word in re.findall(r"[A-Za-z_]\w*", annotation) if self.depth <= DEPTH else ():
            named = self.scope.get(word)
            if not isinstance(named, type) or named.__module__ != self.block.__module__ or named is self.block:
                continue
            if issubclass(named, torch.nn.Module) and re.search(r"[Tt]ype\b", annotation):
                yield word
            elif not issubclass(named, (str, int)):
                yield self.instance(word, named)
        if re.fullmatch(r"(.*_)?block(s|_type|_fn)?|bottleneck_type", name):
            for word, named in self.scope.items():
                if isinstance(named, type) and issubclass(named, torch.nn.Module) and hasattr(named, "expansion"):
                    if named.__module__ == self.block.__module__ and named is not self.block:
                        yield word

    def instance(self, word, named):
        """Of a class that is needed for an argument, with guesses for what it requires itself."""
        required = [parameter for parameter in arguments.signature(named) if arguments.is_required(parameter)]
        inner = Guesser(self.block, self.depth + 1)
        filled = ", ".join(f"{parameter.name}={inner.for_parameter(parameter)[0]}" for parameter in required)
        return f"{word}({filled})"


def configurations(name, annotation):
    name = name.lower()
    takes_configuration = CONFIGURATION.search(annotation) or (not annotation and re.fullmatch(r".*_(cfg|config)", name))
    if takes_configuration or re.fullmatch(r"(.*_)?cfg", name):
        yield from next((found for pattern, found in CONFIGURATION_RULES if re.fullmatch(pattern, name)), ())
    if takes_configuration:
        yield from ("dict(type=torch.nn.Identity)", "dict()", "[dict(type=torch.nn.Identity)] * 2")
    elif re.fullmatch(r"config|cfg|args|hparams", name) or re.search(r"\w(Config|Cfg|Args)\b", annotation):
        yield NAMESPACE


def by_name_and_annotation(name, annotation):
    named = by_name(name)
    annotated = by_annotation(annotation)
    if named and (LIST.search(annotation) or TUPLE.search(annotation)):
        return [*contained(named, annotation), *annotated, *named]
    if named and not re.search(r"^(str|bool)$|Module$", annotation):
        return [*named, *annotated]
    return [*annotated, *named]


def contained(named, annotation):
    """Lists or tuples of what a name takes by itself, and that itself where the annotation has both."""
    single = next((expression for expression in named if expression[0] not in "([{"), None)
    if single is None:
        return
    outside = annotation
    while CONTAINER.search(outside):
        outside = CONTAINER.sub("", outside)
    if re.search(r"\b(int|float)\b", outside):
        yield single
    if TUPLE.search(annotation):
        inner = TUPLE.split(annotation, maxsplit=1)[-1]
        count = max(2, len(re.findall(r"\b(?:int|float|bool)\b", inner.split("]")[0]))) if "..." not in inner else 2
        yield f"({', '.join([single] * count)})"
    else:
        yield from (f"[{', '.join([single] * count)}]" for count in (2, 4, 3))


def by_annotation(annotation):
    found = next((found for pattern, found in ANNOTATION_RULES if re.search(pattern, annotation)), ())
    if found == ("None",):
        without = re.sub(r"^Optional\[(.*)\]$|\s*\|\s*None$", r"\1", annotation)
        return (*found, *(by_annotation(without) if without != annotation else ()))
    return found


def by_name(name):
    return next((found for pattern, found in NAME_RULES if re.fullmatch(pattern, name.lower())), ())


def attribute(name):
    """What an attribute of a configuration object may be."""
    found = next((found for pattern, found in ATTRIBUTE_RULES if re.fullmatch(pattern, name)), ())
    return found or by_name(name) or ("64",)


def literals_of(block):
    """By parameter, the literals that the block's constructors compare it with, and the keys of tables that it picks from."""
    found = defaultdict(list)
    for owner in block.__mro__:
        if owner.__module__ == block.__module__:
            tables = {name: value for name, value in vars(owner).items() if isinstance(value, dict)}
            gather(found, tree_of(owner), tables)
    return bounded(found)


def literals_on_the_way(error, block):
    found = defaultdict(list)
    for frame, _ in reversed(frames_of(error, block)[-FRAMES:]):
        gather(found, tree_of(frame.f_code), {})
    return bounded(found)


def frames_of(error, block):
    """The frames in the block's module through which an exception came, each with its line, the outermost first."""
    frames = []
    traceback = error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_globals.get("__name__") == block.__module__:
            frames.append((traceback.tb_frame, traceback.tb_lineno))
        traceback = traceback.tb_next
    return frames


def gather(found, tree, tables):
    for node in ast.walk(tree):
        for name, literals in literals_in(node, tables):
            found[name].extend(repr(literal) for literal in literals)


def bounded(found):
    return {name: tuple(dict.fromkeys(literals))[:LITERALS] for name, literals in found.items()}


def tree_of(code):
    return tree_and_line_of(code)[0]


def tree_and_line_of(code):
    """The source of a class or code object, and the line of the file in which that begins."""
    try:
        lines, first = inspect.getsourcelines(code)
        return ast.parse(textwrap.dedent("".join(lines))), first
    except (OSError, TypeError, SyntaxError):
        return ast.Module([], []), 1


def literals_in(node, tables):
    """`name in ("a", "b")`, `name == "a"`, `self.table[name]`, `name in self.table`"""
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute):
        yield from keys_of(tables.get(node.value.attr), node.slice)
    if not isinstance(node, ast.Compare) or len(node.ops) != 1:
        return
    [operator], [right] = node.ops, node.comparators
    if isinstance(operator, (ast.In, ast.NotIn)) and isinstance(right, ast.Attribute):
        yield from keys_of(tables.get(right.attr), node.left)
    name = name_of(node.left)
    try:
        value = ast.literal_eval(right)
    except ValueError:
        return
    if name and isinstance(operator, (ast.In, ast.NotIn)) and isinstance(value, (list, tuple, set, dict)):
        yield name, [each for each in value if isinstance(each, (str, int)) and not isinstance(each, bool)]
    elif name and isinstance(operator, (ast.Eq, ast.NotEq)) and isinstance(value, str):
        yield name, [value]


def keys_of(table, node):
    name = name_of(node)
    if table and name:
        yield name, [key for key in table if isinstance(key, (str, int))][:3]


def name_of(node):
    """The name that is read, of a parameter or of an attribute that keeps it."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return None
