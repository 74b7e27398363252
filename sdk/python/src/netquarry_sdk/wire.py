"""Between the records of this package and the classes that componentize-py generates for a world.

Records have the same names and fields on both sides. Here they are frozen, sequences come in as tuples and go
out from any sequence, lists of pairs are mappings, and the members of enums are matched by name.
"""

import dataclasses
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Annotated, Any, TypeAlias, Union, get_args, get_origin, get_type_hints

from .bounds import Range

Convert: TypeAlias = Callable[[Any], Any]


@dataclass(frozen=True, eq=False)
class Bindings:
    """What componentize-py generates for a world."""

    error: Any
    """`componentize_py_types.Err`, which an export raises for the error of its result, and an import
    likewise."""
    classes: Mapping[str, Any]
    """The classes of all interfaces of the world, by their names, of which no two are the same."""

    @classmethod
    def of(cls, error: Any, *interfaces: types.ModuleType) -> "Bindings":
        return cls(
            error, {name: value for interface in interfaces for name, value in vars(interface).items()}
        )


class MisfitError(TypeError):
    """A value that the contract does not take, with the path to it."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path}: {problem}" if path else problem)
        self.path = path
        self.problem = problem

    def inside(self, outer: str) -> "MisfitError":
        separator = "." if self.path and not self.path.startswith("[") else ""
        return MisfitError(f"{outer}{separator}{self.path}", self.problem)


def _identity(value: Any) -> Any:
    return value


@cache
def incoming(hint: Any) -> Convert:
    """What makes a value of this package of one of the bindings."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return incoming(arguments[0])
    if origin is Sequence:
        item = incoming(arguments[0])
        return tuple if item is _identity else lambda values: tuple(map(item, values))
    if origin is Mapping:
        entry = incoming(arguments[1])
        return lambda pairs: {key: entry(value) for key, value in pairs}
    if _is_optional(origin):
        inner = incoming(arguments[0])
        return lambda value: None if value is None else inner(value)
    if isinstance(hint, type) and issubclass(hint, Enum):
        members = hint.__members__
        return lambda value: members[value.name]
    if dataclasses.is_dataclass(hint):
        fields = [(name, incoming(inner)) for name, inner in _hints(hint).items()]
        make: Callable[..., Any] = hint  # type: ignore[assignment]
        return lambda value: make(**{name: convert(getattr(value, name)) for name, convert in fields})
    return _identity


@cache
def outgoing(hint: Any, bindings: Bindings) -> Convert:
    """What makes a value of the bindings of one of this package. It raises `MisfitError`."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        bounds = next(note for note in arguments[1:] if isinstance(note, Range))
        return lambda value: _integer(value, bounds)
    if origin is Sequence:
        item = outgoing(arguments[0], bindings)
        return lambda values: _list(values, item)
    if origin is Mapping:
        entry = outgoing(arguments[1], bindings)
        return lambda values: _pairs(values, entry)
    if origin is tuple:
        parts = [outgoing(argument, bindings) for argument in arguments]
        return lambda values: tuple(part(value) for part, value in zip(parts, values, strict=True))
    if _is_optional(origin):
        inner = outgoing(arguments[0], bindings)
        return lambda value: None if value is None else inner(value)
    if isinstance(hint, type) and issubclass(hint, Enum):
        members = bindings.classes[hint.__name__].__members__
        return lambda value: members[_instance(value, hint).name]
    if dataclasses.is_dataclass(hint):
        fields = [(name, outgoing(inner, bindings)) for name, inner in _hints(hint).items()]
        target = bindings.classes[hint.__name__]  # type: ignore[union-attr]
        return lambda value: target(
            **{name: _field(_instance(value, hint), name, convert) for name, convert in fields}
        )
    if hint is float:
        return lambda value: float(_instance(value, (int, float)))
    return lambda value: _instance(value, hint)


def _hints(record: Any) -> dict[str, Any]:
    hints = get_type_hints(record, include_extras=True)
    return {field.name: hints[field.name] for field in dataclasses.fields(record)}


def _is_optional(origin: Any) -> bool:
    # No record has a union of anything but one type and None.
    return origin in (Union, types.UnionType)


def _instance(value: Any, kind: Any) -> Any:
    if not isinstance(value, kind):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        expected = " or ".join(f"`{kind.__name__}`" for kind in kinds)
        raise MisfitError("", f"{expected} is expected, and this is {value!r:.80}")
    return value


def _integer(value: Any, bounds: Range) -> int:
    if type(value) is not int or value not in bounds:
        raise MisfitError(
            "", f"an integer from {bounds.minimum} to {bounds.maximum} is expected, and this is {value!r:.80}"
        )
    return value


def _list(values: Any, item: Convert) -> list[Any]:
    # A string is a sequence of strings, and hardly ever meant as one.
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Sequence):
        raise MisfitError("", f"a list is expected, and this is {values!r:.80}")
    converted: list[Any] = []
    for index, value in enumerate(values):
        try:
            converted.append(item(value))
        except MisfitError as error:
            raise error.inside(f"[{index}]") from None
    return converted


def _pairs(values: Any, entry: Convert) -> list[tuple[str, Any]]:
    converted: list[tuple[str, Any]] = []
    for key, value in _instance(values, Mapping).items():
        try:
            converted.append((_instance(key, str), entry(value)))
        except MisfitError as error:
            raise error.inside(f"[{key!r}]") from None
    return converted


def _field(record: Any, name: str, convert: Convert) -> Any:
    try:
        return convert(getattr(record, name))
    except MisfitError as error:
        raise error.inside(name) from None
