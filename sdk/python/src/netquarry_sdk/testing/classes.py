"""Descriptions of the classes of Python files."""

import ast
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..discovery import Ancestor, BaseClass, ClassDescription, Method
from .index import MemoryIndex
from .python_files import Module, dotted, dotted_names, modules


@dataclass(frozen=True)
class _Class:
    module: Module
    node: ast.ClassDef
    conditional: bool
    bases: tuple[BaseClass, ...]
    methods: tuple[Method, ...]


def class_descriptions(files: Mapping[str, str]) -> list[ClassDescription]:
    """The classes of Python files as a rule sees them, by their paths relative to the root; in their order.

    The host knows more: it follows names in ways that this does not. Raises `SyntaxError`.
    """
    index = MemoryIndex.of_files(files)
    classes: dict[str, _Class] = {}
    for module in modules(files):
        for bound in module.bound:
            node = bound.statement
            if isinstance(node, ast.ClassDef):
                bases = tuple(_base(index, module, base) for base in node.bases)
                methods = tuple(_method(child) for child in node.body if isinstance(child, _FUNCTIONS))
                classes[f"{module.name}.{bound.name}"] = _Class(
                    module, node, bound.conditional, bases, methods
                )
    subclassed = {base.resolved for each in classes.values() for base in each.bases}
    return [_description(path, classes, subclassed=path in subclassed) for path in classes]


_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


def _description(path: str, classes: Mapping[str, _Class], *, subclassed: bool) -> ClassDescription:
    described = classes[path]
    node = described.node
    metaclass = next((dotted(keyword.value) for keyword in node.keywords if keyword.arg == "metaclass"), None)
    summary = (ast.get_docstring(node) or "").strip().partition("\n")[0].strip()
    return ClassDescription(
        name=node.name,
        path=path,
        module=described.module.name,
        source="test",
        file=described.module.file,
        bases=described.bases,
        metaclass=metaclass,
        ancestors=tuple(_ancestors(path, classes)),
        methods=described.methods,
        decorators=_decorators(node),
        attributes=tuple(_attributes(node)),
        references=tuple(sorted(set(dotted_names(node)))),
        summary=summary or None,
        conditional=described.conditional,
        subclassed=subclassed,
    )


def _base(index: MemoryIndex, module: Module, node: ast.expr) -> BaseClass:
    match node:
        case ast.Call(func=inner) | ast.Subscript(value=inner):
            written = dotted(inner)
        case _:
            written = dotted(node)
    meaning = None if written is None else module.meaning(written)
    return BaseClass(written, None if meaning is None else index.resolved(meaning))


def _method(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Method:
    arguments = node.args
    every = [
        *arguments.posonlyargs,
        *arguments.args,
        arguments.vararg,
        *arguments.kwonlyargs,
        arguments.kwarg,
    ]
    names = tuple(argument.arg for argument in every if argument is not None)
    return Method(node.name, names, _decorators(node), all(_is_stub(child) for child in node.body))


def _is_stub(node: ast.stmt) -> bool:
    match node:
        case ast.Pass() | ast.Expr(value=ast.Constant(value=str() | types.EllipsisType())):
            return True
        case ast.Raise(exc=ast.Name(id=name) | ast.Call(func=ast.Name(id=name))):
            return name == "NotImplementedError"
        case _:
            return False


def _decorators(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[str, ...]:
    called = (each.func if isinstance(each, ast.Call) else each for each in node.decorator_list)
    return tuple(dotted(each) or "" for each in called)


def _attributes(node: ast.ClassDef) -> Iterator[str]:
    for statement in node.body:
        match statement:
            case ast.Assign(targets=targets):
                yield from (target.id for target in targets if isinstance(target, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)) | ast.ClassDef(name=name):
                yield name


def _ancestors(path: str, classes: Mapping[str, _Class]) -> list[Ancestor]:
    """Depth first, each class where it comes last, which is Python's order but for unusual diamonds."""
    ordered: list[str] = []

    def visit(path: str, above: frozenset[str]) -> None:
        for base in classes[path].bases if path in classes else ():
            if base.resolved is not None and base.resolved not in above:
                ordered.append(base.resolved)
                visit(base.resolved, above | {base.resolved})

    visit(path, frozenset({path}))
    last = [each for number, each in enumerate(ordered) if each not in ordered[number + 1 :]]
    return [
        Ancestor(each, external=each not in classes, methods=classes[each].methods if each in classes else ())
        for each in last
    ]
