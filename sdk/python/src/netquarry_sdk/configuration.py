"""The configuration of a plugin: a dataclass of which every field has a default."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from .shape import ConfigurationError, Json, Schema, shape_of_dataclass


@dataclass(frozen=True)
class NoConfiguration:
    """The configuration of a plugin that has no options."""


def schema(kind: type, names: Mapping[str, Any]) -> Schema:
    """The JSON Schema (draft 2020-12) of a configuration.

    `names` are those that its annotations may use beside the globals of its module. Raises `AnnotationError`.
    """
    definitions: dict[str, Schema] = {}
    whole: Schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": kind.__name__}
    whole |= shape_of_dataclass(kind, names).own_schema(definitions)
    return whole | {"$defs": definitions} if definitions else whole


def read(kind: type, names: Mapping[str, Any], document: str) -> Any:
    """The configuration that a JSON document says. Raises `ConfigurationError`, which points to the value at
    fault.
    """
    return shape_of_dataclass(kind, names).read(_parsed(document), "")


def _parsed(document: str) -> Json:
    try:
        parsed: Json = json.loads(document, parse_constant=_refused_constant)
    except (ValueError, RecursionError) as error:
        raise ConfigurationError("", f"it is not JSON: {error}") from None
    return parsed


def _refused_constant(constant: str) -> NoReturn:
    raise ValueError(f"`{constant}` is no number of JSON")
