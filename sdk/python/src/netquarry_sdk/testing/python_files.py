"""Modules as their syntax has them: what they bind, and what their names mean.

Much simpler than the host's index: a name means what the module binds it to, wherever it stands.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

Statement: TypeAlias = (
    ast.ClassDef
    | ast.FunctionDef
    | ast.AsyncFunctionDef
    | ast.Assign
    | ast.AnnAssign
    | ast.Import
    | ast.ImportFrom
)


@dataclass(frozen=True)
class Bound:
    """A statement that binds a global name."""

    name: str
    statement: Statement
    conditional: bool
    """It stands under `if`, `try` or another statement."""


@dataclass(frozen=True)
class Module:
    name: str
    file: str
    text: str
    bound: list[Bound] = field(default_factory=list)
    meanings: dict[str, str] = field(default_factory=dict)
    """Dotted paths by global name: of what is imported, or of the module's own definition."""

    def text_of(self, statement: Statement) -> str:
        first, last = lines_of(statement)
        return "\n".join(self.text.split("\n")[first - 1 : last])

    def meaning(self, written: str) -> str | None:
        """The dotted path that a dotted name stands for; None where the module does not bind its first
        part.
        """
        head, dot, rest = written.partition(".")
        meaning = self.meanings.get(head)
        return None if meaning is None else f"{meaning}{dot}{rest}"


def modules(files: Mapping[str, str]) -> list[Module]:
    """The modules of Python files, by their paths relative to the root. Raises `SyntaxError`."""
    return [_module(file, text) for file, text in files.items()]


def _module(file: str, text: str) -> Module:
    parts = file.removesuffix(".py").split("/")
    is_package = parts[-1] == "__init__"
    parts = parts[:-1] if is_package else parts
    module = Module(".".join(parts), file, text)
    package = parts if is_package else parts[:-1]
    for statement, conditional in _statements(ast.parse(text, file).body, conditional=False):
        for name, meaning in _bindings(statement, module.name, package):
            module.bound.append(Bound(name, statement, conditional))
            module.meanings[name] = meaning
    return module


def _statements(body: list[ast.stmt], *, conditional: bool) -> Iterator[tuple[Statement, bool]]:
    for statement in body:
        if isinstance(statement, Statement):
            yield statement, conditional
        elif isinstance(statement, ast.If | ast.Try | ast.With | ast.For | ast.While):
            inner = [child for child in ast.iter_child_nodes(statement) if isinstance(child, ast.stmt)]
            handlers = getattr(statement, "handlers", [])
            yield from _statements(
                [*inner, *(child for each in handlers for child in each.body)], conditional=True
            )


def _bindings(statement: Statement, module: str, package: list[str]) -> Iterator[tuple[str, str]]:
    match statement:
        case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
            yield statement.name, f"{module}.{statement.name}"
        case ast.Import():
            for alias in statement.names:
                head = alias.name.partition(".")[0]
                yield (alias.asname, alias.name) if alias.asname else (head, head)
        case ast.ImportFrom():
            above = package[: len(package) - statement.level + 1] if statement.level else []
            origin = ".".join([*above, *([statement.module] if statement.module else [])])
            for alias in statement.names:
                yield alias.asname or alias.name, f"{origin}.{alias.name}"
        case ast.Assign(targets=targets):
            for target in targets:
                for node in ast.walk(target):
                    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                        yield node.id, f"{module}.{node.id}"
        case ast.AnnAssign(target=ast.Name(id=name)):
            yield name, f"{module}.{name}"


def lines_of(statement: Statement) -> tuple[int, int]:
    """The first line, that of a decorator if there is one, and the last; 1-based."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    first = min([statement.lineno, *(decorator.lineno for decorator in decorators)])
    return first, statement.end_lineno or statement.lineno


def dotted(node: ast.AST) -> str | None:
    """A dotted name as written; None of any other expression."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=attribute):
            outer = dotted(value)
            return None if outer is None else f"{outer}.{attribute}"
        case _:
            return None


def dotted_names(node: ast.AST) -> Iterator[str]:
    """The dotted names in a syntax tree, each as long as it goes, in no particular order."""
    written = dotted(node)
    if written is not None:
        yield written
        return
    for child in ast.iter_child_nodes(node):
        yield from dotted_names(child)
