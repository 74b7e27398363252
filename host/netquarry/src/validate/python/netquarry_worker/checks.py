"""What a check of the block's own found that it did not want: `assert x.shape[1] == self.paths`, `if a % b: raise ...`.

The check is read from the source, and what it compared is asked of the frame in which it failed.
"""

import ast
import builtins
import collections
import itertools
import math

from netquarry_worker import guesses

# `node` is the side of a comparison that could change, `found` its value, and `wanted` a value that would have passed; of
# `isinstance`, what is asked, and a kind of sequence that it should be.
# `widths` are those of the list whose length is wanted, as in `len(inputs) == len(self.in_channels)`.
Unmet = collections.namedtuple("Unmet", "node, found, wanted, widths", defaults=((),))

# Nothing else is called: what a check calls may count, or take from an iterator. The first ones are Python's, over numbers
# and sequences; the others those of tensors.
FUNCTIONS = {"len", "int", "max", "min", "abs", "tuple", "list"}
METHODS = {"size", "dim", "ndimension"}
# Of the values that a check asks for one of.
FIRST = 4
OF_SHAPE = {"shape", "size"}


def unmet_by(error, block):
    """What the innermost check in the block's module wanted; nothing where the error comes from elsewhere."""
    frames = guesses.frames_of(error, block)
    if not frames:
        return []
    frame, line = frames[-1]
    tree, first = guesses.tree_and_line_of(frame.f_code)
    line -= first - 1
    asked = [check for node in ast.walk(tree) for check in checks_of(node, line, error)]
    return [unmet for test, must_hold in asked for unmet in unmet_in(test, must_hold, frame)]


def checks_of(node, line, error):
    """The test of a statement that raised on `line`, and whether it has to hold."""
    match node:
        case ast.Assert(test=test) if node.lineno <= line <= node.end_lineno:
            yield test, True
        case ast.If(test=test, body=body, orelse=other):
            for branch, must_hold in ((body, False), (other, True)):
                if any(isinstance(each, ast.Raise) and each.lineno <= line <= each.end_lineno for each in branch):
                    yield test, must_hold
        # `torch._assert` and its like.
        case ast.Expr(value=ast.Call(args=[test, *_])) if node.lineno <= line <= node.end_lineno:
            if isinstance(error, AssertionError):
                yield test, True


def unmet_in(test, must_hold, frame):
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from unmet_in(operand, not must_hold, frame)
        case ast.BoolOp(values=values):
            for value in values:
                yield from unmet_in(value, must_hold, frame)
        case ast.Compare(left=left, ops=operators, comparators=others):
            for operator, first, second in zip(operators, [left, *others], others):
                yield from unmet_between(operator, first, second, must_hold, frame)
        case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name() as node, kinds]) if must_hold:
            yield from (Unmet(node, None, kind) for kind in kinds_in(node, kinds, frame))
        case ast.BinOp(op=ast.Mod()) if not must_hold:
            yield from unmet_between(ast.Eq(), test, ast.Constant(0), True, frame)


def unmet_between(operator, first, second, must_hold, frame):
    try:
        if bool(value_of(ast.Compare(first, [operator], [second]), frame)) is must_hold:
            return
        found, other = value_of(first, frame), value_of(second, frame)
        wants_equal = isinstance(operator, ast.Eq if must_hold else ast.NotEq)
        if wants_equal and isinstance(first, ast.BinOp) and isinstance(first.op, ast.Mod) and other == 0:
            dividend, divisor = value_of(first.left, frame), value_of(first.right, frame)
            yield from differing(first.left, dividend, divisor * max(1, math.ceil(dividend / divisor)))
            yield from differing(first.right, divisor, math.gcd(dividend, divisor))
        elif wants_equal:
            yield from (each._replace(widths=widths_in(second, frame)) for each in differing(first, found, other))
            yield from (each._replace(widths=widths_in(first, frame)) for each in differing(second, other, found))
        elif isinstance(operator, ast.In if must_hold else ast.NotIn):
            choices = itertools.islice(other, FIRST) if isinstance(other, (tuple, list, range, set, dict)) else ()
            yield from (unmet for each in choices for unmet in differing(first, found, each))
        elif isinstance(operator, (ast.Gt, ast.GtE) if must_hold else (ast.Lt, ast.LtE)):
            yield from differing(first, found, other + isinstance(operator, (ast.Gt, ast.LtE)))
        elif isinstance(operator, (ast.Lt, ast.LtE) if must_hold else (ast.Gt, ast.GtE)):
            yield from differing(first, found, other - isinstance(operator, (ast.Lt, ast.GtE)))
    except Exception:
        # What cannot be asked again tells nothing.
        return


def differing(node, found, wanted):
    """Whole numbers that differ, also those of shapes and pairs."""
    if is_literal(node):
        return
    if isinstance(found, (tuple, list)) and isinstance(wanted, (tuple, list)) and len(found) == len(wanted):
        for one, other in zip(found, wanted):
            yield from differing(node, one, other)
    elif type(found) is int and type(wanted) is int and found != wanted:
        yield Unmet(node, found, wanted)


def kinds_in(node, kinds, frame):
    """Those that it is asked to be of and is not, as far as they are sequences."""
    try:
        kinds = value_of(kinds, frame)
        if isinstance(value_of(node, frame), kinds):
            return ()
    except Exception:
        return ()
    return [kind for kind in (list, tuple) if kind is kinds or (isinstance(kinds, tuple) and kind in kinds)]


def widths_in(node, frame):
    """Of a list that is counted, its numbers."""
    value = value_of(node.args[0], frame) if counted(node) else ()
    is_list = isinstance(value, (list, tuple)) and all(type(width) is int and width > 0 for width in value)
    return tuple(value) if is_list else ()


def value_of(node, frame):
    """The value of an expression in a frame; raises where asking for it again may change something."""
    for each in ast.walk(node):
        is_harmful = isinstance(each, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom)
        if is_harmful or (isinstance(each, ast.Call) and not is_harmless(each, frame)):
            raise ValueError("the check does more than to compare")
    tree = ast.fix_missing_locations(ast.Expression(node))
    return eval(compile(tree, "<check>", "eval"), frame.f_globals, frame.f_locals)


def is_harmless(call, frame):
    import torch

    match call.func:
        case ast.Name(id=name) if name in FUNCTIONS:
            own = frame.f_locals.get(name, frame.f_globals.get(name, getattr(builtins, name)))
            takes = (int, float, tuple, list, dict, str, torch.nn.ModuleList, torch.Tensor)
            return own is getattr(builtins, name) and all(isinstance(value_of(each, frame), takes) for each in call.args)
        case ast.Attribute(value=value, attr=name) if name in METHODS:
            return isinstance(value_of(value, frame), torch.Tensor)
    return False


def is_literal(node):
    try:
        ast.literal_eval(node)
    except ValueError:
        return False
    return True


def is_rank(node):
    """Whether it is a number of dimensions: `x.dim()`, `x.ndim`, `len(x.shape)`."""
    match node:
        case ast.Call(func=ast.Attribute(attr="dim" | "ndimension")) | ast.Attribute(attr="ndim"):
            return True
        case ast.Call(func=ast.Name(id="len"), args=[argument]):
            return is_shape(argument)
    return False


def counted(node):
    """The name of what is counted: `len(inputs)`."""
    match node:
        case ast.Call(func=ast.Name(id="len"), args=[argument]) if not is_shape(argument):
            return guesses.name_of(argument)
    return None


def dimension(node):
    """Which dimension it is the size of: `x.shape[1]`, `x.size(1)`, `x.size()[1]`; `None` where that is not said."""
    match node:
        case ast.Subscript(value=value, slice=place) if is_shape(value):
            return number(place)
        case ast.Call(func=ast.Attribute(attr="size"), args=[place]):
            return number(place)
    return None


def is_shape(node):
    node = node.func if isinstance(node, ast.Call) and not node.args else node
    return isinstance(node, ast.Attribute) and node.attr in OF_SHAPE


def number(node):
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return value if type(value) is int else None
