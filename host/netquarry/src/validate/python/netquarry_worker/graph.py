"""Runs a graph that `export` wrote, in a process that has never seen the code it was made from.

Both the graph and the expressions for its inputs come from a process that ran foreign code, which may have changed them. So
nothing here does more than what is listed: operators of torch, arithmetic, and tensors that torch makes out of numbers.
"""

import ast
import json
import math
import mmap
import operator
import os

from netquarry_worker import export, randomness

# What does arithmetic with numbers that are known only once the graph runs.
ARITHMETIC = {
    "_operator": (operator, "add and_ eq floordiv ge getitem gt le lt mod mul ne neg not_ or_ pos pow sub truediv".split()),
    "math": (math, "ceil floor sqrt trunc".split()),
    "torch": (None, "sym_float sym_int sym_ite sym_max sym_min sym_not sym_sqrt sym_sum".split()),
}
# What an expression for an input may call, of torch.
FACTORIES = "arange eye full linspace ones rand randint randn randperm tensor zeros".split()
# And what else it may be made of.
PLAIN = (
    *(ast.Expression, ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.keyword, ast.Load),
    *(ast.UnaryOp, ast.UAdd, ast.USub, ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv),
)


class UnknownOperator(Exception):
    """The graph has an operator that torch does not have by itself."""


class NotPlain(Exception):
    """An input is made by more than what torch makes of numbers."""


class NotWhole(Exception):
    """The file is not what `export` writes."""


class Graph:
    """A graph and its tensors, as they lie in a file."""

    def __init__(self, descriptor, operator_packages):
        """`operator_packages` are those beside torch whose operators the graph may have."""
        self._namespaces = ("aten", *operator_packages)
        size = os.fstat(descriptor).st_size
        if size < export.HEADER.size:
            raise NotWhole("the graph was not written")
        # What an operator changes in place changes here alone.
        self._bytes = mmap.mmap(descriptor, size, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE)
        (length,) = export.HEADER.unpack_from(self._bytes)
        self._first = export.HEADER.size + length
        described = json.loads(self._bytes[export.HEADER.size : self._first].rstrip(b"\0"))
        # The parameters that are given by position, and those by name.
        self.positional = described["positional"]
        self.keywords = described["keywords"]
        self._sources = described["sources"]
        self._outputs = described["outputs"]
        self._nodes = described["nodes"]
        self._tensors = described["tensors"]

    @property
    def operators(self):
        """How many operators of torch there are."""
        return sum(count_of(node) for node in self._nodes)

    def answer(self, expressions, number):
        """What comes out, in order, for inputs that the expressions make after this number was the seed."""
        import torch
        from torch.utils import _pytree

        randomness.seed(number)
        # In the order of the parameters: random values depend on it.
        names = (*self.positional, *self.keywords)
        values = {name: value_of(expressions[name]) for name in names}
        positional = tuple(values[name] for name in self.positional)
        keywords = {name: values[name] for name in self.keywords}
        with torch.no_grad():
            return self.outputs(_pytree.tree_leaves((positional, keywords)))

    def outputs(self, given):
        """What comes out, in order, where these values go in, in order."""
        given = iter(given)
        values = [next(given) if source is None else self.tensor(source) for source in self._sources]
        outputs = self._run(self._nodes, values)
        return [outputs[place] for place in self._outputs]

    def tensor(self, place):
        import torch

        held = self._tensors[place]
        dtype = constant_of_torch(held["dtype"])
        count = math.prod(held["shape"])
        if not count:
            return torch.empty(held["shape"], dtype=dtype)
        flat = torch.frombuffer(self._bytes, dtype=dtype, count=count, offset=self._first + held["offset"])
        # Torch looks whether gradients are asked for of what a view is of, too.
        return flat.reshape(held["shape"]).detach().requires_grad_(held["trained"])

    def _run(self, nodes, values):
        """The outputs of a graph whose inputs have these values."""
        values = iter(values)
        known = {}
        for kind, name, *rest in nodes:
            if kind == "input":
                known[name] = next(values)
            elif kind == "graph":
                known[name] = rest[0]
            elif kind == "call":
                target, positional, keywords = rest
                known[name] = self._called(target, decoded(positional, known), decoded(keywords, known))
            else:
                return decoded(rest[0], known)
        raise NotWhole("the graph has no output")

    def _called(self, target, positional, keywords):
        import torch

        if target == "higher_order.wrap_with_set_grad_enabled":
            # Nobody asks for gradients here.
            _, nodes, *values = positional
            return self._run(nodes, values)
        if target == "higher_order.wrap_with_autocast":
            device, dtype, enabled, cache, nodes, *values = positional
            with torch.autocast(device, dtype, enabled, cache):
                return self._run(nodes, values)
        return self._operator(target)(*positional, **keywords)

    def _operator(self, target):
        """`aten.add.Tensor` as torch has it."""
        import torch

        namespace, _, name = target.partition(".")
        if namespace in ARITHMETIC:
            module, names = ARITHMETIC[namespace]
            found = getattr(module or torch, name) if name in names else None
        else:
            found = torch.ops if namespace in self._namespaces else None
            for part in target.split("."):
                found = getattr(found, part, None)
            found = found if isinstance(found, torch._ops.OpOverload) else None
        if found is None:
            raise UnknownOperator(f"{target} is no operator of torch")
        return found


def count_of(node):
    kind, _, *rest = node
    if kind == "graph":
        return sum(map(count_of, rest[0]))
    return int(kind == "call" and rest[0].partition(".")[0] not in ("higher_order", *ARITHMETIC))


def decoded(value, known):
    """An argument as `export.value_of` wrote it."""
    import torch

    if isinstance(value, list):
        return [decoded(item, known) for item in value]
    if not isinstance(value, dict):
        return value
    ((kind, held),) = value.items()
    if kind == "node":
        return known[held]
    if kind == "float":
        return float.fromhex(held)
    if kind == "complex":
        return complex(*map(float.fromhex, held))
    if kind == "dict":
        return {key: decoded(item, known) for key, item in held}
    if kind == "slice":
        return slice(*(decoded(part, known) for part in held))
    if kind == "device":
        return torch.device(held)
    return constant_of_torch(held)


def constant_of_torch(name):
    """`float32`, `strided`, `channels_last`"""
    import torch

    found = getattr(torch, name, None)
    if not isinstance(found, torch.dtype | torch.layout | torch.memory_format):
        raise NotWhole(f"torch has no constant {name!r}")
    return found


def value_of(expression):
    """What a plain expression stands for."""
    import torch

    tree = ast.parse(expression, mode="eval")
    if not all(map(is_plain, ast.walk(tree))):
        raise NotPlain(f"`{expression}` is more than what torch makes of numbers")
    return eval(compile(tree, "<argument>", "eval"), {"__builtins__": {}, "torch": torch})


def is_plain(node):
    """Whether one part of an expression, without those in it, is nothing but numbers and what torch makes of them."""
    import torch

    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute) and node.func.attr in FACTORIES
    if isinstance(node, ast.Attribute):
        of_torch = isinstance(node.value, ast.Name) and node.value.id == "torch"
        return of_torch and (node.attr in FACTORIES or isinstance(getattr(torch, node.attr, None), torch.dtype))
    if isinstance(node, ast.Name):
        return node.id == "torch"
    return isinstance(node, PLAIN)
