"""Classes of a package, and for most of them two more that are edited copies, to see what deduplication makes of them.

    planted_copies.py FOLDER ROWS

Writes to ROWS a JSON line for each class with a `forward` method in the Python files below FOLDER whose name no other has, and
for its copies, behind it: `nn`, `nn_code`, for copies `copy_of` and `kind`. Kinds below `same` leave the network as it is up
to names, order and constants, those below `other` make another one of it. A class gets one of each; which depends on its name
alone, but for the rarest, and where a kind cannot be had of a class, it gets the next one. Nothing is executed.
"""

import ast
import collections
import itertools
import json
import pathlib
import sys
import zlib


def main(folder, path):
    found = collections.defaultdict(list)
    for file in sorted(pathlib.Path(folder).rglob("*.py")):
        code = file.read_text(encoding="utf-8")
        lines = code.splitlines(True)
        for node in ast.parse(code).body:
            if isinstance(node, ast.ClassDef) and any(getattr(each, "name", "") == "forward" for each in node.body):
                found[node.name].append("".join(lines[node.lineno - 1 : node.end_lineno]))
    with open(path, "w", encoding="utf-8") as rows:
        for name, codes in sorted(found.items()):
            if len(codes) == 1:
                copies = [copy(name, codes[0], group) for group in ("same", "other")]
                for row in (original(name, codes[0]), *copies):
                    if row:
                        rows.write(json.dumps(row) + "\n")


def original(name, code):
    return {"nn": name, "nn_code": code}


def copy(name, code, group):
    kinds = [kind for kind in KINDS if kind.startswith(group)]
    first = zlib.crc32(name.encode()) % len(kinds)
    rare = [kind for kind in kinds if KINDS[kind] is another_order_of_layers]
    for kind in rare + kinds[first:] + kinds[:first]:
        tree = ast.parse(code)
        before = ast.dump(tree)
        edited = KINDS[kind](tree)
        if edited is None and ast.dump(tree) != before:
            edited = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
        if edited:
            return {"nn": f"{group.title()}{name}", "nn_code": edited, "copy_of": name, "kind": kind}


def methods(tree):
    return [node for node in tree.body[0].body if isinstance(node, ast.FunctionDef)]


def forward(tree):
    return next(method for method in methods(tree) if method.name == "forward")


def renamed(tree):
    """The class, and what its methods bind: parameters but for `self`, and variables."""
    tree.body[0].name = f"Copy{tree.body[0].name}"
    for method in methods(tree):
        nodes = list(ast.walk(method))
        bound = [node.arg for node in nodes if isinstance(node, ast.arg) and node.arg != "self"]
        bound += [node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
        names = {name: f"name_{number}" for number, name in enumerate(dict.fromkeys(bound))}
        for node in nodes:
            if isinstance(node, ast.Name):
                node.id = names.get(node.id, node.id)
            elif isinstance(node, ast.arg):
                node.arg = names.get(node.arg, node.arg)


def reformatted(tree):
    """Other line breaks, quotes and brackets, and comments."""
    return ast.unparse(tree).replace("\n", "  # the same\n") + "\n"


def reordered(tree):
    """The methods stand in the opposite order."""
    body = tree.body[0].body
    places = [place for place, node in enumerate(body) if isinstance(node, ast.FunctionDef)]
    if len(places) < 2:
        return
    for place, method in zip(places, [body[place] for place in reversed(places)]):
        body[place] = method


def other_constants(tree):
    """Where layers are made, and defaults. In a forward pass they may be axes."""
    parts = [method if method.name == "__init__" else method.args for method in methods(tree)]
    for node in itertools.chain(*map(ast.walk, parts)):
        if isinstance(node, ast.Constant) and type(node.value) in (int, float) and node.value not in (0, 1, -1):
            node.value = node.value * 2


def dead_code(tree):
    for method in methods(tree):
        place = next((place for place, node in enumerate(method.body) if not is_text(node)), 0)
        method.body[place:place] = ast.parse("unused = None\nif unused:\n    unused = 0\n").body


def is_text(node):
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def another_layer(tree):
    """One of the layers that the constructor makes is another one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and layer_of(node.func):
            node.func.attr = "GRUCell" if node.func.attr != "GRUCell" else "LSTMCell"
            return


def layer_of(function):
    is_nn = isinstance(function.value, ast.Name) and function.value.id == "nn"
    return is_nn and function.attr[0].isupper() and function.attr not in ("Parameter", "Sequential", "ModuleList")


def another_operator(tree):
    """The first sum in the forward pass is a product, or the first product a sum."""
    for node in ast.walk(forward(tree)):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult):
            node.op = ast.Mult() if isinstance(node.op, ast.Add) else ast.Add()
            return


def a_step_less(tree):
    """The forward pass lacks a statement that computes something."""
    body = forward(tree).body
    for place, node in enumerate(body[:-1]):
        if isinstance(node, ast.Assign | ast.AugAssign) and any(isinstance(each, ast.Call) for each in ast.walk(node)):
            del body[place]
            return


def another_order(tree):
    """Two layers that stand next to each other in the forward pass have changed places."""
    calls = [node for node in ast.walk(forward(tree)) if isinstance(node, ast.Call) and is_layer(node)]
    for outer in calls:
        for inner in outer.args[:1]:
            if inner in calls and kind_of(inner) != kind_of(outer):
                outer.func, inner.func = inner.func, outer.func
                return
    body = forward(tree).body
    for first, second in zip(body, body[1:]):
        one, other = (getattr(node, "value", None) for node in (first, second))
        is_chain = isinstance(first, ast.Assign) and ast.dump(first.targets[0]) == ast.dump(getattr(second, "targets", [second])[0])
        if is_chain and one in calls and other in calls and kind_of(one) != kind_of(other):
            one.func, other.func = other.func, one.func
            return


def another_order_of_layers(tree):
    """Two layers that a constructor hands to `nn.Sequential` one behind the other have changed places."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("nn.Sequential", "Sequential"):
            for place, (first, second) in enumerate(zip(node.args, node.args[1:])):
                made = [isinstance(each, ast.Call) and ast.unparse(each.func) for each in (first, second)]
                if all(made) and made[0] != made[1]:
                    node.args[place : place + 2] = second, first
                    return


def other_operands(tree):
    """What the forward pass subtracts, divides or multiplies as matrices comes the other way round."""
    for node in ast.walk(forward(tree)):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub | ast.Div | ast.MatMult):
            if ast.dump(node.left) != ast.dump(node.right):
                node.left, node.right = node.right, node.left
                return


def another_option(tree):
    """One of the options of a layer that the constructor makes is switched."""
    constructor = next((method for method in methods(tree) if method.name == "__init__"), ast.Pass())
    for node in ast.walk(constructor):
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2][:1].isupper():
            for keyword in node.keywords:
                # In place or not, the values are the same.
                if isinstance(keyword.value, ast.Constant) and type(keyword.value.value) is bool and keyword.arg != "inplace":
                    keyword.value.value = not keyword.value.value
                    return


def is_layer(node):
    function = node.func
    is_own = isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == "self"
    return is_own and len(node.args) == 1 and not node.keywords


def kind_of(node):
    """What a layer is called, without its number: `norm1` and `norm2` may be alike."""
    return node.func.attr.rstrip("0123456789").rstrip("_")


KINDS = {
    "same: renamed": renamed,
    "same: reformatted": reformatted,
    "same: reordered members": reordered,
    "same: other constants": other_constants,
    "same: dead code": dead_code,
    "other: another layer": another_layer,
    "other: another operator": another_operator,
    "other: a step less": a_step_less,
    "other: another order": another_order,
    "other: another order of layers": another_order_of_layers,
    "other: other operands": other_operands,
    "other: another option": another_option,
}


if __name__ == "__main__":
    main(*sys.argv[1:])
