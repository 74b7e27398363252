"""The host's index, behind its resource."""

from collections.abc import Sequence
from typing import Any

from .shim import CodeIndex, Definition
from .wire import incoming

_definition = incoming(Definition)


class HostIndex(CodeIndex):
    def __init__(self, resource: Any) -> None:
        self._resource = resource

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
