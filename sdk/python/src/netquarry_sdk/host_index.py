"""The host's index, behind its resource."""

from collections.abc import Sequence
from typing import Any

from .shim import CodeIndex, Definition, FileError, FileErrorCase
from .wire import Bindings, incoming

_definition = incoming(Definition)


class HostIndex(CodeIndex):
    def __init__(self, resource: Any, bindings: Bindings) -> None:
        self._resource = resource
        self._refused = bindings.error

    def find(self, path: str) -> Definition | None:
        found = self._resource.find(path)
        return None if found is None else _definition(found)

    def source(self, path: str) -> str | None:
        text: str | None = self._resource.source(path)
        return text

    def references(self, path: str) -> Sequence[str]:
        return tuple(self._resource.references(path))

    def registered(self, registry: str, key: str) -> Sequence[str]:
        return tuple(self._resource.registered(registry, key))

    def files(self, source: str) -> Sequence[str]:
        return tuple(self._resource.files(source))

    def read_file(self, source: str, path: str) -> bytes:
        try:
            return bytes(self._resource.read_file(source, path))
        except self._refused as refused:
            raise _file_error(path, refused.value) from None


def _file_error(path: str, refused: Any) -> FileError:
    name = type(refused).__name__.removeprefix("FileError_")
    case = _CASES[name]
    return FileError(case, path, refused.value if case is FileErrorCase.OTHER else "")


_CASES = {
    "NotPermitted": FileErrorCase.NOT_PERMITTED,
    "Missing": FileErrorCase.MISSING,
    "Other": FileErrorCase.OTHER,
}
