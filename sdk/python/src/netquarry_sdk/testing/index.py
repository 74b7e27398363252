"""An index in memory."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ..shim import CodeIndex, Definition, DefinitionKind, FileError, FileErrorCase
from .python_files import Module, Statement, dotted, dotted_names, lines_of, modules


@dataclass(frozen=True)
class _Entry:
    definition: Definition
    text: str
    references: frozenset[str]
    registrations: frozenset[tuple[str, str]]
    """Registry and key."""


@dataclass
class MemoryIndex(CodeIndex):
    """Stands in for the host's index: `MemoryIndex.of_files({"acme/heads.py": "..."})`, or `add` by `add`.

    References and keys of files are what their syntax shows, without a look at scopes inside of functions.
    """

    _entries: dict[str, _Entry] = field(default_factory=dict)
    _imports: dict[str, str] = field(default_factory=dict)
    _files: dict[str, bytes] = field(default_factory=dict)

    @classmethod
    def of_files(cls, files: Mapping[str, str]) -> "MemoryIndex":
        """The index over Python files, by their paths relative to the root. Raises `SyntaxError`."""
        index = cls()
        for module in modules(files):
            for bound in module.bound:
                index._add_statement(module, bound.name, bound.statement)
        return index

    def add(
        self,
        path: str,
        text: str = "",
        *,
        kind: DefinitionKind = DefinitionKind.CLASS,
        references: Sequence[str] = (),
        registered: Mapping[str, str] | None = None,
    ) -> None:
        """Adds a definition; `registered` has the key under which a registry has it, by the registry's dotted
        path.
        """
        module = path.rpartition(".")[0]
        file = f"{module.replace('.', '/')}.py"
        definition = Definition(path, kind, "test", file, 1, text.count("\n") + 1)
        self._entries[path] = _Entry(
            definition, text, frozenset(references), frozenset((registered or {}).items())
        )

    def add_file(self, path: str, content: str | bytes) -> None:
        """Adds a file of the source `test` that the shim may read."""
        self._files[path] = content.encode() if isinstance(content, str) else content

    def files(self, source: str) -> Sequence[str]:
        return tuple(sorted(self._files)) if source == "test" else ()

    def read_file(self, source: str, path: str) -> bytes:
        if source != "test" or path not in self._files:
            raise FileError(FileErrorCase.MISSING, path)
        return self._files[path]

    def find(self, path: str) -> Definition | None:
        entry = self._entry(path)
        return None if entry is None else entry.definition

    def source(self, path: str) -> str | None:
        entry = self._entry(path)
        return None if entry is None else entry.text

    def references(self, path: str) -> Sequence[str]:
        entry = self._entry(path)
        return () if entry is None else tuple(sorted({self.resolved(other) for other in entry.references}))

    def registered(self, registry: str, key: str) -> Sequence[str]:
        wanted = (self.resolved(registry), self.resolved(key))
        return tuple(
            sorted(path for path, entry in self._entries.items() if wanted in self._registrations(entry))
        )

    def _entry(self, path: str) -> _Entry | None:
        return self._entries.get(self.resolved(path))

    def _registrations(self, entry: _Entry) -> set[tuple[str, str]]:
        return {(self.resolved(registry), self.resolved(key)) for registry, key in entry.registrations}

    def resolved(self, path: str, seen: frozenset[str] = frozenset()) -> str:
        """The path behind re-exports. Imports that lead back to themselves are left as they are."""
        if path in seen or (path in self._entries and path not in self._imports):
            return path
        seen |= {path}
        if path in self._imports:
            return self.resolved(self._imports[path], seen)
        outer, dot, last = path.rpartition(".")
        moved = self.resolved(outer, seen) if dot else outer
        return path if moved == outer else self.resolved(f"{moved}.{last}", seen)

    def _add_statement(self, module: Module, name: str, statement: Statement) -> None:
        path = f"{module.name}.{name}"
        meaning = module.meanings[name]
        if meaning != path:
            self._imports[path] = meaning
        definition = Definition(path, _kind(statement), "test", module.file, *lines_of(statement))
        written = {module.meaning(written) for written in dotted_names(statement)}
        self._entries[path] = _Entry(
            definition,
            module.text_of(statement),
            frozenset(meaning for meaning in written if meaning is not None and meaning != path),
            frozenset(_registrations(module, statement)),
        )


def _kind(statement: Statement) -> DefinitionKind:
    match statement:
        case ast.ClassDef():
            return DefinitionKind.CLASS
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return DefinitionKind.FUNCTION
        case ast.Import() | ast.ImportFrom():
            return DefinitionKind.IMPORT
        case _:
            return DefinitionKind.ASSIGNMENT


def _registrations(module: Module, statement: Statement) -> Iterator[tuple[str, str]]:
    if not isinstance(statement, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return
    for decorator in statement.decorator_list:
        called = dotted(decorator.func) if isinstance(decorator, ast.Call) else None
        registry = None if called is None else module.meaning(called)
        if registry is None or not isinstance(decorator, ast.Call):
            continue
        arguments = [*decorator.args, *(keyword.value for keyword in decorator.keywords)]
        if not arguments:
            yield registry, statement.name
        for argument in arguments:
            key = _key(module, argument)
            if key is not None:
                yield registry, key


def _key(module: Module, argument: ast.expr) -> str | None:
    if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
        return argument.value
    written = dotted(argument)
    return None if written is None else module.meaning(written)
