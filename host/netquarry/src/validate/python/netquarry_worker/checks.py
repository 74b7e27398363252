"""What a check of the block's own found that it did not want: `assert x.shape[1] == self.paths`, `if a % b: raise ...`.

The check is read from the source, and what it compared is asked of the frame in which it failed.
"""

import ast
import collections
import math

from netquarry_worker import guesses

# `node` is the side of a comparison that could change, `found` its value, and `wanted` a value that would have passed; of
# `isinstance`, what is asked, and a kind of sequence that it should be.
# `widths` are those of the list whose length is wanted, as in `len(inputs) == len(self.in_channels)`.
Unmet = collections.namedtuple("Unmet", "node, found, wanted, widths", defaults=((),))

# Nothing else is called: what a check calls may count, or take from an iterator.
HARMLESS = {"len", "size", "dim", "ndimension", "int", "max", "min", "abs", "tuple", "list"}
OF_SHAPE = {"shape", "size"}


def unmet_by(error, block):
    """What the innermost check in the block's module wanted; nothing where the error comes from elsewhere."""
    frames = guesses.frames_of(error, block)
    if not frames:
        return []
    frame, line = frames[-1]
    tree = guesses.tree_of(frame.f_code)
    line -= frame.f_code.co_firstlineno - 1
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
            yield from (Unmet(node, None, kind) for kind in kinds_in(kinds, frame))
        case ast.BinOp(op=ast.Mod()) if not must_hold:
            yield from unmet_between(ast.Eq(), test, ast.Constant(0), True, frame)


def unmet_between(operator, first, second, must_hold, frame):
    try:
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
            yield from (unmet for each in other for unmet in differing(first, found, each))
        elif isinstance(operator, (ast.Gt, ast.GtE) if must_hold else (ast.Lt, ast.LtE)):
            yield from differing(first, found, other + isinstance(operator, (ast.Gt, ast.LtE)))
        elif isinstance(operator, (ast.Lt, ast.LtE) if must_hold else (ast.Gt, ast.GtE)):
            yield from differing(first, found, other - isinstance(operator, (ast.Lt, ast.GtE)))
    except Exception:
        # What cannot be asked again tells nothing.
        return


def differing(node, found, wanted):
    """Whole numbers that differ, also those of shapes and pairs."""
    if isinstance(node, ast.Constant):
        return
    if isinstance(found, (tuple, list)) and isinstance(wanted, (tuple, list)) and len(found) == len(wanted):
        for one, other in zip(found, wanted):
            yield from differing(node, one, other)
    elif type(found) is int and type(wanted) is int and found != wanted:
        yield Unmet(node, found, wanted)


def kinds_in(node, frame):
    """Those that an instance is asked to be of, as far as they are sequences."""
    try:
        kinds = value_of(node, frame)
    except Exception:
        return ()
    return [kind for kind in (list, tuple) if kind is kinds or (isinstance(kinds, tuple) and kind in kinds)]


def widths_in(node, frame):
    """Of a list that is counted, its numbers."""
    value = value_of(node.args[0], frame) if counted(node) else ()
    is_list = isinstance(value, (list, tuple)) and all(type(width) is int and width > 0 for width in value)
    return tuple(value) if is_list else ()


def value_of(node, frame):
    for each in ast.walk(node):
        if isinstance(each, ast.Call) and guesses.name_of(each.func) not in HARMLESS:
            raise ValueError("the check calls something")
    return eval(compile(ast.Expression(node), "<check>", "eval"), frame.f_globals, frame.f_locals)


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
