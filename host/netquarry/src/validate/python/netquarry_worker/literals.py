"""Expressions that say what they are worth, in the place of those that make it: `256` for `(64, 256)[1]`."""

import ast
import builtins

from netquarry_worker import arguments

# What is made of literals, of operators and of these is the same wherever and whenever it is evaluated.
PURE = frozenset(
    "abs bool divmod enumerate float int iter len list max min next range reversed round sorted str sum tuple zip".split()
)
SCOPE = {"__builtins__": {name: getattr(builtins, name) for name in PURE}}

# What may stand in the place of its value.
MADE = ast.Call | ast.Subscript | ast.BinOp | ast.BoolOp | ast.Compare | ast.IfExp | ast.ListComp
# What reaches further than its own text, or may take long.
BARRED = ast.Attribute | ast.Lambda | ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom | ast.Pow | ast.LShift
# Of what makes a value longer than its text, one is enough, and by no greater number.
LENGTHENING = ast.Mult | ast.comprehension
MOST = 4_096


def shortened(tree, scope):
    """An expression, of which each part that is worth a shorter literal has become that. The names of `scope` stand for
    something else than Python's own functions."""
    return Shortened(PURE - scope.keys()).visit(tree)


class Shortened(ast.NodeTransformer):
    def __init__(self, pure):
        self.pure = pure

    def visit(self, node):
        return self.worth(node) or self.generic_visit(node)

    def worth(self, node):
        """The literal that an expression is worth; `None` where there is none, or a longer one."""
        if not isinstance(node, MADE) or not self.is_pure(node):
            return None
        text = ast.unparse(node)
        try:
            value = eval(text, dict(SCOPE))
            literal = repr(value)
            is_whole = ast.literal_eval(literal) == value
        except Exception:
            return None  # Whoever needs the value meets the error.
        return ast.parse(literal, mode="eval").body if is_whole and len(literal) < len(text) else None

    def is_pure(self, node):
        parts = list(ast.walk(node))
        numbers = [each.value for each in parts if isinstance(each, ast.Constant) and isinstance(each.value, int)]
        return (
            arguments.names_in(node) <= self.pure
            and not any(isinstance(each, BARRED) for each in parts)
            and sum(isinstance(each, LENGTHENING) for each in parts) <= 1
            and max(numbers, default=0) <= MOST
        )
