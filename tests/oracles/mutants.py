"""Makes mutants of bundles: texts that differ from a bundle in one place, as a mistake of extraction might.

    python -I mutants.py REQUESTS RESPONSES

A request is a line of JSON with the `path` of a bundle, how many mutants are wanted (`count`) and a `seed`; the response
has them in `mutants`. A kind of mutation is chosen first and a place for it then, so that rare kinds have their share.
Lines keep their numbers: what is dropped leaves a `pass` and empty lines. Each mutant says in `lines` where to look
whether what was changed has run.
"""

import ast
import bisect
import functools
import io
import itertools
import json
import random
import re
import sys
import tokenize

OPERATORS = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "+"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "//"),
    ast.Pow: ("**", "*"),
    ast.MatMult: ("@", "*"),
}
COMPARISONS = {
    ast.Lt: ("<", ">="),
    ast.LtE: ("<=", ">"),
    ast.Gt: (">", "<="),
    ast.GtE: (">=", "<"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.In: ("in", "not in"),
}
# By the last part of the name.
ACTIVATIONS = {
    "ReLU": "GELU",
    "ReLU6": "ReLU",
    "LeakyReLU": "ReLU",
    "GELU": "ReLU",
    "SiLU": "ReLU",
    "Hardswish": "ReLU",
    "Sigmoid": "Tanh",
    "Hardsigmoid": "Sigmoid",
    "Tanh": "Sigmoid",
    "Softmax": "LogSoftmax",
    "relu": "gelu",
    "gelu": "relu",
    "silu": "relu",
    "sigmoid": "tanh",
    "tanh": "sigmoid",
    "softmax": "log_softmax",
}
GEOMETRY = re.compile(r"(.*_)?(kernel(_size)?|padding|pad|stride|dilation|groups|output_padding)")
AXIS = re.compile(r"(.*_)?(dim|axis|dims)")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINITIONS = (*FUNCTIONS, ast.ClassDef, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.If, ast.Try)


class Bundle:
    """A text with its tree, and what stands around each node that can be changed."""

    def __init__(self, source):
        self.source = source
        self.tree = ast.parse(source)
        self.starts = [0]
        for line in source.split(b"\n"):
            self.starts.append(self.starts[-1] + len(line) + 1)
        text = source.decode()
        lines = text.split("\n")
        self.tokens = []  # Each as its place and its text.
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            line, column = token.start
            before = lines[line - 1][:column] if line <= len(lines) else ""
            self.tokens.append((self.starts[line - 1] + len(before.encode()), token.string))
        # Each node with the statement and the definition that it stands in.
        self.nodes = []
        self.strings = set()
        self.visit(self.tree, None, (), None)

    def visit(self, node, statement, definitions, name):
        """`name` is that of the keyword or parameter whose value the node is."""
        # In a formatted string the interpreter does not say exactly where things stand.
        if isinstance(node, ast.JoinedStr):
            return
        if isinstance(node, ast.stmt):
            statement = node
        self.nodes.append((node, statement, definitions, name))
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            self.strings.add(node.value)
        inner = (*definitions, node) if isinstance(node, (*FUNCTIONS, ast.ClassDef)) else definitions
        if isinstance(node, FUNCTIONS):
            arguments = node.args
            plain = [*arguments.posonlyargs, *arguments.args]
            named = [*zip(plain[len(plain) - len(arguments.defaults) :], arguments.defaults)]
            named += [pair for pair in zip(arguments.kwonlyargs, arguments.kw_defaults) if pair[1]]
            for parameter, default in named:
                self.visit(default, statement, inner, parameter.arg)
            for child in (*node.decorator_list, *without_docstring(node.body)):
                self.visit(child, statement, inner, None)
            return
        if isinstance(node, ast.keyword):
            self.visit(node.value, statement, definitions, node.arg)
            return
        for field, value in ast.iter_fields(node):
            children = value if isinstance(value, list) else [value]
            if field == "annotation":
                continue
            if field == "body" and isinstance(node, (ast.ClassDef, ast.Module)):
                children = without_docstring(children)
            for child in children:
                if isinstance(child, ast.AST):
                    self.visit(child, statement, inner, None)

    def at(self, line, column):
        return self.starts[line - 1] + column

    def start(self, node):
        lines = [node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))]
        first = min(lines)
        # The `@` of a decorator stands before it.
        return self.at(first, node.col_offset)

    def end(self, node):
        return self.at(node.end_lineno, node.end_col_offset)

    def text(self, node):
        return self.source[self.start(node) : self.end(node)].decode()

    def token(self, left, right, wanted):
        """The place of the token between two nodes."""
        first = bisect.bisect_left(self.tokens, (self.end(left), ""))
        following = itertools.islice(self.tokens, first, None)
        return next(at for at, text in following if text == wanted)


def without_docstring(body):
    first = body[0] if body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        return body[1:]
    return body


class Change:
    """One text in the place of another, between two offsets."""

    def __init__(self, kind, start, end, after, lines):
        self.kind, self.start, self.end, self.after, self.lines = kind, start, end, after, lines


def changes(bundle):
    """All that can be done to a bundle, one place at a time."""
    for node, statement, definitions, name in bundle.nodes:
        if statement is None:
            continue
        lines = lines_of(node, statement, definitions)
        yield from definition_dropped(bundle, node, definitions)
        yield from base_changed(bundle, node)
        yield from operator_swapped(bundle, node, lines)
        yield from constant_changed(bundle, node, name, lines)
        yield from arguments_swapped(bundle, node, lines)
        yield from statement_dropped(bundle, node, definitions, lines)
        yield from activation_changed(bundle, node, lines)


def lines_of(node, statement, definitions):
    """Where to look whether a node has run: in its statement, or in the body of the function of which it is a default."""
    if statement in definitions and isinstance(statement, FUNCTIONS):
        return lines_of_body(statement)
    # Of a statement with a body, its head.
    is_compound = hasattr(statement, "body") and not isinstance(statement, ast.Expr)
    last = node.end_lineno if is_compound and hasattr(node, "end_lineno") else statement.end_lineno
    return [statement.lineno, last]


@functools.cache
def lines_of_body(definition):
    """From the first line that runs when a function is called, or a function of a class."""
    functions = [node for node in ast.walk(definition) if isinstance(node, FUNCTIONS)]
    bodies = [without_docstring(function.body) for function in functions]
    first = [body[0].lineno for body in bodies if body]
    return [min(first), definition.end_lineno] if first else [definition.lineno, definition.end_lineno]


def dropped(bundle, kind, node, lines):
    start, end = bundle.start(node), bundle.end(node)
    if getattr(node, "decorator_list", ()):
        start -= 1 if bundle.source[start - 1 : start] == b"@" else 0
    removed = bundle.source[start:end]
    yield Change(kind, start, end, b"pass" + b"\n" * removed.count(b"\n"), lines)


def definition_dropped(bundle, node, definitions):
    if node not in bundle.tree.body:
        return
    if isinstance(node, (ast.Import, ast.ImportFrom)) and getattr(node, "module", "") != "__future__":
        yield from dropped(bundle, "import dropped", node, [node.lineno, node.end_lineno])
    elif isinstance(node, DEFINITIONS):
        is_body = isinstance(node, (*FUNCTIONS, ast.ClassDef))
        lines = lines_of_body(node) if is_body else [node.lineno, node.end_lineno]
        yield from dropped(bundle, "definition dropped", node, lines)


def base_changed(bundle, node):
    if not isinstance(node, ast.ClassDef):
        return
    before = [each for each in bundle.tree.body if each.lineno < node.lineno]
    classes = [each.name for each in before if isinstance(each, ast.ClassDef)]
    module = "nn.Module" if re.search(rb"\bnn\b", b"\n".join(bundle.source.split(b"\n")[: node.lineno])) else None
    for base in node.bases:
        for other in (module, *classes):
            if other and other != bundle.text(base):
                yield Change("base changed", bundle.start(base), bundle.end(base), other.encode(), lines_of_body(node))


def operator_swapped(bundle, node, lines):
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        before, after = OPERATORS[type(node.op)]
        at = bundle.token(node.left, node.right, before)
        yield Change("operator swapped", at, at + len(before), after.encode(), lines)
    elif isinstance(node, ast.AugAssign) and type(node.op) in OPERATORS:
        before, after = OPERATORS[type(node.op)]
        at = bundle.token(node.target, node.value, before + "=")
        yield Change("operator swapped", at, at + len(before), after.encode(), lines)
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
        before, after = COMPARISONS[type(node.ops[0])]
        at = bundle.token(node.left, node.comparators[0], before)
        yield Change("comparison flipped", at, at + len(before), after.encode(), lines)
    elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.IsNot, ast.NotIn)):
        at = bundle.token(node.left, node.comparators[0], "not")
        yield Change("comparison flipped", at, at + len("not"), b"", lines)
    elif isinstance(node, ast.BoolOp):
        before, after = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:]):
            at = bundle.token(left, right, before)
            yield Change("`and` and `or` swapped", at, at + len(before), after.encode(), lines)
    elif isinstance(node, (ast.If, ast.IfExp)):
        test = node.test
        lines = [test.lineno, test.end_lineno]
        negated = f"(not ({bundle.text(test)}))".encode()
        yield Change("condition negated", bundle.start(test), bundle.end(test), negated, lines)


def constant_changed(bundle, node, name, lines):
    is_negative = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
    constant = node.operand if is_negative else node
    if not isinstance(constant, ast.Constant):
        return
    value = constant.value
    kind = None
    if isinstance(value, bool):
        kind, after = "flag flipped", repr(not value)
    elif isinstance(value, int) and name and AXIS.fullmatch(name):
        signed = -value if is_negative else value
        kind, after = "axis changed", "1" if signed == -1 else repr(signed - 1)
    elif isinstance(value, int) and name and GEOMETRY.fullmatch(name):
        kind, after = "kernel, stride or padding changed", repr(value + 1)
    elif is_negative:
        return
    elif isinstance(value, int):
        kind, after = "integer changed", repr(value + 1)
    elif isinstance(value, float):
        kind, after = "number changed", repr(value * 2 or 1.0)
    elif isinstance(value, str) and name:
        for other in sorted(bundle.strings - {value}):
            if len(other) < 20 and other.isidentifier():
                yield Change("string changed", bundle.start(node), bundle.end(node), repr(other).encode(), lines)
    if kind:
        yield Change(kind, bundle.start(node), bundle.end(node), after.encode(), lines)


def arguments_swapped(bundle, node, lines):
    if not isinstance(node, ast.Call):
        return
    for left, right in zip(node.args, node.args[1:]):
        if any(isinstance(each, (ast.Starred, ast.GeneratorExp)) for each in (left, right)):
            continue
        start, end = bundle.start(left), bundle.end(right)
        between = bundle.source[bundle.end(left) : bundle.start(right)].decode()
        # Parentheses around an argument belong to it, and are not part of it.
        if bundle.text(left) != bundle.text(right) and between.strip() == ",":
            swapped = (bundle.text(right) + between + bundle.text(left)).encode()
            yield Change("arguments swapped", start, end, swapped, lines)


def statement_dropped(bundle, node, definitions, lines):
    in_function = any(isinstance(each, FUNCTIONS) for each in definitions)
    if in_function and isinstance(node, ast.stmt) and not isinstance(node, (ast.Pass, *FUNCTIONS, ast.ClassDef)):
        yield from dropped(bundle, "statement dropped", node, [node.lineno, node.end_lineno])


def activation_changed(bundle, node, lines):
    if isinstance(node, ast.Attribute) and node.attr in ACTIVATIONS:
        end = bundle.end(node)
        yield Change("activation changed", end - len(node.attr), end, ACTIVATIONS[node.attr].encode(), lines)


def mutants(source, seed, count):
    bundle = Bundle(source)
    by_kind = {}
    for change in changes(bundle):
        by_kind.setdefault(change.kind, []).append(change)
    chance = random.Random(seed)
    made = []
    while by_kind and len(made) < count:
        kind = chance.choice(sorted(by_kind))
        change = by_kind[kind].pop(chance.randrange(len(by_kind[kind])))
        if not by_kind[kind]:
            del by_kind[kind]
        text = source[: change.start] + change.after + source[change.end :]
        try:
            ast.parse(text)
        except SyntaxError:
            # Nobody needs a bundle run to see that it is wrong.
            continue
        made.append(
            {
                "kind": change.kind,
                "line": source.count(b"\n", 0, change.start) + 1,
                "before": source[change.start : change.end].decode(),
                "after": change.after.decode().strip(),
                "lines": change.lines,
                "text": text.decode(),
            }
        )
    return made


def main(requests, responses):
    with open(requests, encoding="utf-8") as asked, open(responses, "w", encoding="utf-8") as answers:
        for request in map(json.loads, asked):
            with open(request["path"], "rb") as file:
                source = file.read()
            made = mutants(source, request["seed"], request["count"])
            answers.write(json.dumps({"mutants": made}) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
