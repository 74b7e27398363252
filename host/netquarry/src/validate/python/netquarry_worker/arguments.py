"""Arguments as Python expressions, so that whoever reads the record can repeat what was done.

An expression may use `torch`, `nn`, `types`, `functools` and every name of the module that defines the block.
"""

import ast
import builtins
import functools
import inspect
import sys
import types

from netquarry_worker import report

# Of what an error says, in a note.
LENGTH = 300


class NotFound(Exception):
    """No arguments were found: nothing is known about the level, for or against."""

    def __init__(self, note, error=None, guessed=False):
        super().__init__(note)
        self.note = note
        # What the first, plainest try raised, and whether that try had anything guessed. The host looks whether it can
        # have been the arguments' fault at all.
        self.error = error
        self.guessed = guessed


class NotInScope(Exception):
    """An argument uses a name that is not there."""


def not_found(what, tries, last, first):
    """What a note says: how much was tried, and of the last try what it does not say of the first anyway."""
    note = f"{what}, in {tries} {'try' if tries == 1 else 'tries'}"
    if last is None or (type(last), report.message_of(last)) == (type(first), report.message_of(first)):
        return note
    text = report.message_of(last).partition("\n")[0][:LENGTH]
    return f"{note}; the last: {type(last).__name__}: {text}"


def signature(function):
    """The parameters of a class or function; of one that cannot be inspected, none."""
    try:
        return list(inspect.signature(function).parameters.values())
    except (ValueError, TypeError):
        return []


def is_required(parameter):
    variadic = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    return parameter.default is parameter.empty and not variadic


def annotation_of(parameter):
    """As it is written, as far as that can be told; empty where there is none."""
    annotation = parameter.annotation
    if annotation is parameter.empty:
        return ""
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def scope_of(block):
    """What the names of an expression stand for."""
    import torch

    module = sys.modules.get(block.__module__)
    own = vars(module) if module else {}
    return {**own, "torch": torch, "nn": torch.nn, "types": types, "functools": functools}


def evaluate(expression, scope):
    """Raises `NotInScope` where the module of the block does not have what an expression names: upstream may have it in
    another one."""
    tree = ast.parse(expression, mode="eval")
    for name in missing(tree, scope):
        raise NotInScope(f"`{expression}` names {name!r}, which the module of the block does not have")
    return eval(compile(tree, "<argument>", "eval"), dict(scope))


def missing(tree, scope):
    """The names in an expression that nothing stands for."""
    return [name for name in names_in(tree) if name not in scope and not hasattr(builtins, name)]


def names_in(tree):
    """The names that an expression uses and does not bind itself, as comprehensions and lambdas do; in their order."""
    nodes = list(ast.walk(tree))
    bound = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    bound |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    return dict.fromkeys(node.id for node in nodes if isinstance(node, ast.Name) and node.id not in bound).keys()


def in_scope(expressions, block):
    """Those of the expressions that name nothing that the module of the block does not have."""
    scope = scope_of(block)
    parsed = {name: ast.parse(expression, mode="eval") for name, expression in expressions.items()}
    return {name: expressions[name] for name, tree in parsed.items() if not missing(tree, scope)}


def call(block, parameters, expressions):
    """An instance of the block; the values are made in the order of the expressions."""
    scope = scope_of(block)
    values = {name: evaluate(expression, scope) for name, expression in expressions.items()}
    positional = [
        values.pop(parameter.name)
        for parameter in parameters
        if parameter.kind is parameter.POSITIONAL_ONLY and parameter.name in values
    ]
    return block(*positional, **values)


def no_fault_of_arguments(error):
    """Whatever the arguments, an import that fails and a name that nothing binds speak against the bundle."""
    return isinstance(error, (ImportError, NameError)) and not isinstance(error, UnboundLocalError)
