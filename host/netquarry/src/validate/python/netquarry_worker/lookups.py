"""Looks names up as CPython binds them, in upstream's own modules, to judge what the host resolved them to."""

import ast
import functools
import importlib


class Unanswered(Exception):
    """Nothing can be said about this one."""


def run(job, reporter):
    """Reports an answer for each question, in their order."""
    reporter.send("answers", answers=[answer(question) for question in job["lookups"]])


def answer(question):
    try:
        user, chosen = module(question["user"]), module(question["module"])
        value = value_of(user, question["reference"])
        names = names_bound(chosen, *question["lines"])
    except Unanswered as reason:
        return {"outcome": "unknown", "detail": str(reason)}
    if any(name in vars(chosen) and vars(chosen)[name] is value for name in names):
        return {"outcome": "same", "detail": ""}
    if question["reference"] in fallbacks(user):
        return {"outcome": "unknown", "detail": "fallback: it is imported only where another import fails"}
    return {"outcome": "different", "detail": f"it is {described(value)}"}


def module(name):
    try:
        return importlib.import_module(name)
    except BaseException as error:  # Whatever it is, it is upstream's.
        raise Unanswered(f"upstream_not_importable: {name}: {type(error).__name__}") from error


def value_of(user, reference):
    """What the name, dotted or not, means where the module's globals are in force."""
    first, *rest = reference.split(".")
    if not all(part.isidentifier() for part in (first, *rest)):
        raise Unanswered("no_name: it was not found by a name")
    if first not in vars(user):
        raise Unanswered("not_global: it is bound while a function runs, if at all")
    value = vars(user)[first]
    for name in rest:
        try:
            value = getattr(value, name)
        except Exception as error:
            raise Unanswered(f"no_attribute: {reference} in {user.__name__}") from error
    return value


def names_bound(chosen, start, end):
    """The names that the top-level statement at these lines binds."""
    names = set()
    for statement in statements(chosen):
        if first_line(statement) <= end and start <= statement.end_lineno:
            names |= bound_by(statement)
    if not names:
        raise Unanswered("no_binding: the statement is there for what it does")
    return names


def statements(chosen):
    path = getattr(chosen, "__file__", None)
    if path is None:
        raise Unanswered("no_source: the module has no file")
    return parsed(path)


@functools.cache
def parsed(path):
    with open(path, "rb") as file:
        return ast.parse(file.read()).body


def fallbacks(user):
    """The names that a handler of a failed import would bind: which of two modules they are from, the machine decides."""
    handlers = (
        handler
        for statement in statements(user)
        for node in ast.walk(statement)
        if isinstance(node, ast.Try)
        for handler in node.handlers
    )
    return set().union(*(bound_by(statement) for handler in handlers for statement in handler.body))


def first_line(statement):
    return min([statement.lineno, *(decorator.lineno for decorator in getattr(statement, "decorator_list", []))])


def bound_by(node):
    """The names that running a statement binds in its own scope."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return {node.name}
        case ast.Lambda() | ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return set()
        case ast.Import():
            return {alias.asname or alias.name.partition(".")[0] for alias in node.names}
        case ast.ImportFrom():
            return {alias.asname or alias.name for alias in node.names}
        case ast.Name(ctx=ast.Store()):
            return {node.id}
    return set().union(*(bound_by(child) for child in ast.iter_child_nodes(node)))


def described(value):
    """An object as one would look for it: where it says that it is from."""
    home, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if isinstance(home, str) and isinstance(name, str):
        return f"{home}.{name}"
    return f"an object of type {type(value).__name__!r}"
