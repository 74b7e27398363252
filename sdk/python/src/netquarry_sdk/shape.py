"""What a configuration may look like: from annotations to JSON Schema, and from JSON to values.

| annotation | JSON |
|---|---|
| `bool`, `int`, `float`, `str` | boolean, integer, number, string |
| `Literal[...]`, a subclass of `Enum` | one of the values |
| `list[T]`, `tuple[T, ...]`, `Sequence[T]` | array |
| `dict[str, T]`, `Mapping[str, T]` | object |
| a dataclass | object with these properties and no others |
| `T | None` | `T` or null |
| `Annotated[T, "what it is for", Range(0, 1)]` | `T` with a description, and within bounds |
"""

import dataclasses
import math
import types
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

from .bounds import Range

Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None
Schema: TypeAlias = dict[str, Any]


class ConfigurationError(Exception):
    """A configuration is not accepted: `raise ConfigurationError("/suffix", "every name ends in an empty
    suffix")`.

    The pointer is a JSON pointer (RFC 6901) to the value at fault, empty for the whole configuration. The
    message is a sentence: what is wrong and what would be right.
    """

    def __init__(self, pointer: str, message: str) -> None:
        super().__init__(f"{pointer}: {message}" if pointer else message)
        self.pointer = pointer
        self.message = message


class AnnotationError(TypeError):
    """An annotation of a configuration has no JSON form."""


class Shape(ABC):
    """What JSON is accepted in one place, and what it becomes."""

    @abstractmethod
    def schema(self, definitions: dict[str, Schema]) -> Schema:
        """The JSON Schema; schemas of dataclasses are put into `definitions`, by their names."""

    @abstractmethod
    def read(self, value: Json, pointer: str) -> Any:
        """The value in Python. Raises `ConfigurationError` with a pointer to what is wrong."""


@dataclass(frozen=True)
class Scalar(Shape):
    kind: type
    bounds: Range | None = None

    def schema(self, definitions: dict[str, Schema]) -> Schema:
        schema: Schema = {"type": _TYPE_NAMES[self.kind]}
        if self.bounds is not None:
            schema |= {"minimum": self.bounds.minimum, "maximum": self.bounds.maximum}
        return schema

    def read(self, value: Json, pointer: str) -> Any:
        if self.kind is float and type(value) is int:
            value = float(value)
        if type(value) is not self.kind:
            raise _mismatch(pointer, _NAMES[self.kind], value)
        if self.bounds is not None and isinstance(value, int | float) and value not in self.bounds:
            between = f"{self.bounds.minimum} to {self.bounds.maximum}"
            raise ConfigurationError(pointer, f"{value} is out of bounds, which are {between}")
        return value


@dataclass(frozen=True)
class Choice(Shape):
    """One of some JSON values, each with what it becomes."""

    choices: tuple[tuple[Json, Any], ...]

    def schema(self, definitions: dict[str, Schema]) -> Schema:
        return {"enum": [value for value, _ in self.choices]}

    def read(self, value: Json, pointer: str) -> Any:
        for choice, meaning in self.choices:
            if type(choice) is type(value) and choice == value:
                return meaning
        known = ", ".join(f"`{choice}`" for choice, _ in self.choices)
        raise _mismatch(pointer, f"one of {known}", value)


@dataclass(frozen=True)
class Items(Shape):
    collection: type[list[Any]] | type[tuple[Any, ...]]
    item: Shape

    def schema(self, definitions: dict[str, Schema]) -> Schema:
        return {"type": "array", "items": self.item.schema(definitions)}

    def read(self, value: Json, pointer: str) -> Any:
        if not isinstance(value, list):
            raise _mismatch(pointer, "an array", value)
        return self.collection(self.item.read(item, f"{pointer}/{index}") for index, item in enumerate(value))


@dataclass(frozen=True)
class Entries(Shape):
    entry: Shape

    def schema(self, definitions: dict[str, Schema]) -> Schema:
        return {"type": "object", "additionalProperties": self.entry.schema(definitions)}

    def read(self, value: Json, pointer: str) -> Any:
        if not isinstance(value, dict):
            raise _mismatch(pointer, "an object", value)
        return {key: self.entry.read(entry, below(pointer, key)) for key, entry in value.items()}


@dataclass(frozen=True)
class Nullable(Shape):
    shape: Shape

    def schema(self, definitions: dict[str, Schema]) -> Schema:
        return {"anyOf": [self.shape.schema(definitions), {"type": "null"}]}

    def read(self, value: Json, pointer: str) -> Any:
        return None if value is None else self.shape.read(value, pointer)


@dataclass(frozen=True)
class Property:
    name: str
    """In JSON; that of the field, unless its metadata has another `name`."""
    field: str
    shape: Shape
    description: str | None
    default: Json


@dataclass(frozen=True)
class Fields(Shape):
    """A dataclass."""

    kind: type
    description: str | None
    properties: tuple[Property, ...]

    def schema(self, definitions: dict[str, Schema]) -> Schema:
        definitions[self.kind.__name__] = self.own_schema(definitions)
        return {"$ref": f"#/$defs/{self.kind.__name__}"}

    def own_schema(self, definitions: dict[str, Schema]) -> Schema:
        schema: Schema = {} if self.description is None else {"description": self.description}
        schema |= {"type": "object", "properties": {}, "additionalProperties": False}
        for part in self.properties:
            described = {} if part.description is None else {"description": part.description}
            schema["properties"][part.name] = (
                part.shape.schema(definitions) | described | {"default": part.default}
            )
        return schema

    def read(self, value: Json, pointer: str) -> Any:
        if not isinstance(value, dict):
            raise _mismatch(pointer, "an object", value)
        known = {part.name: part for part in self.properties}
        given: dict[str, Any] = {}
        for key, inner in value.items():
            part = known.get(key)
            if part is None:
                options = ", ".join(f"`{name}`" for name in known) or "none"
                raise ConfigurationError(
                    below(pointer, key), f"there is no option `{key}`; the options are: {options}"
                )
            given[part.field] = part.shape.read(inner, below(pointer, key))
        return self.kind(**given)


def shape_of_dataclass(kind: type, names: Mapping[str, Any]) -> Fields:
    """The shape of a dataclass, of which every field must have a default.

    `names` are those that its annotations may use beside the globals of its module. Raises `AnnotationError`.
    """
    if not dataclasses.is_dataclass(kind):
        raise AnnotationError(f"`{kind.__qualname__}` is not a dataclass; put `@dataclass` above it")
    hints = get_type_hints(kind, localns=dict(names), include_extras=True)
    properties = tuple(
        _property(kind, field, hints[field.name], names) for field in dataclasses.fields(kind) if field.init
    )
    # Without one of its own, a dataclass has its signature for a docstring.
    documentation = kind.__doc__ or ""
    description = None if documentation.startswith(f"{kind.__name__}(") else documentation.strip() or None
    return Fields(kind, description, properties)


def _property(kind: type, field: "dataclasses.Field[Any]", hint: Any, names: Mapping[str, Any]) -> Property:
    place = f"{kind.__qualname__}.{field.name}"
    if field.default is not dataclasses.MISSING:
        default = field.default
    elif field.default_factory is not dataclasses.MISSING:
        default = field.default_factory()
    else:
        raise AnnotationError(f"`{place}` has no default; an empty configuration has to be a right one")
    notes = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    description = field.metadata.get("description") or next(
        (note for note in notes if isinstance(note, str)), None
    )
    name = field.metadata.get("name", field.name)
    return Property(name, field.name, _shape(hint, names, place), description, _as_json(default, place))


def _shape(hint: Any, names: Mapping[str, Any], place: str) -> Shape:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        inner = _shape(arguments[0], names, place)
        bounds = next((note for note in arguments[1:] if isinstance(note, Range)), None)
        if bounds is None:
            return inner
        if isinstance(inner, Scalar) and inner.kind in (int, float):
            return Scalar(inner.kind, bounds)
        raise AnnotationError(f"`{place}` has bounds, which only an `int` or a `float` can have")
    if hint in _TYPE_NAMES:
        return Scalar(hint)
    if origin is Literal:
        return Choice(tuple((value, value) for value in arguments))
    if origin in (list, Sequence) and arguments:
        return Items(list, _shape(arguments[0], names, place))
    if origin is tuple and len(arguments) == 2 and arguments[1] is ...:
        return Items(tuple, _shape(arguments[0], names, place))
    if origin in (dict, Mapping) and arguments and arguments[0] is str:
        return Entries(_shape(arguments[1], names, place))
    if origin in (Union, types.UnionType):
        others = [argument for argument in arguments if argument is not types.NoneType]
        if len(others) == 1 and len(arguments) == 2:
            return Nullable(_shape(others[0], names, place))
    if isinstance(hint, type) and issubclass(hint, Enum):
        return Choice(tuple((member.value, member) for member in hint))
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return shape_of_dataclass(hint, names)
    written = hint.__qualname__ if isinstance(hint, type) and not arguments else str(hint)
    raise AnnotationError(
        f"`{place}` is annotated with `{written}`, for which there is no JSON Schema; use bool, int, "
        "float, str, Literal, Enum, list[...], dict[str, ...], dataclasses, or these and None"
    )


def _as_json(default: Any, place: str) -> Json:
    """A default as it stands in the schema."""
    if default is None or type(default) in _TYPE_NAMES:
        return default  # type: ignore[no-any-return]
    if isinstance(default, Enum):
        return _as_json(default.value, place)
    if isinstance(default, list | tuple):
        return [_as_json(item, place) for item in default]
    if isinstance(default, dict):
        return {key: _as_json(entry, place) for key, entry in default.items()}
    if dataclasses.is_dataclass(default):
        fields = dataclasses.fields(default)
        named = {
            field.metadata.get("name", field.name): getattr(default, field.name)
            for field in fields
            if field.init
        }
        return _as_json(named, place)
    raise AnnotationError(f"the default of `{place}`, {default!r}, has no JSON form")


def below(pointer: str, key: str) -> str:
    """The JSON pointer to `key` of the object at `pointer`."""
    return f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"


def _mismatch(pointer: str, expected: str, found: Json) -> ConfigurationError:
    return ConfigurationError(pointer, f"{expected} is expected, and this is {_told(found)}")


def _told(value: Json) -> str:
    match value:
        case None:
            return "null"
        case str() if len(value) <= 40:
            return f"the string `{value}`"
        case list():
            return "an array"
        case dict():
            return "an object"
        case bool():
            return str(value).lower()
        case int() | float() if math.isfinite(value):
            return f"the number {value}"
        case _:
            return _NAMES[type(value)]


_TYPE_NAMES: dict[Any, str] = {bool: "boolean", int: "integer", float: "number", str: "string"}
_NAMES: dict[type, str] = {bool: "true or false", int: "an integer", float: "a number", str: "a string"}
