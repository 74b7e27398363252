"""What every kind of plugin has in common."""

import inspect
import json
from abc import ABC
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from . import configuration
from .contract import Kind


class Plugin(ABC):
    """What a plugin is, and how it is made from its configuration.

    The docstring of a plugin is its documentation, in Markdown; the first line is a summary. Write
    `configuration: Configuration` into the class for type checkers to know the attribute.
    """

    kind: ClassVar[Kind]
    """Set by the base class of the kind."""

    name: ClassVar[str]
    """Lower-case letters, digits and hyphens; that of the project in `pyproject.toml`."""

    version: ClassVar[str]
    """A semantic version; that of the project in `pyproject.toml`."""

    examples: ClassVar[Sequence[str]] = ()
    """Cases that show what the plugin does: patterns of JSON files, relative to the project:
    `examples/*.json`.

    The component carries them. `netquarry plugin test` runs them and, with `--bless`, writes what comes out
    into them.
    """

    reads_files: ClassVar[Mapping[str, str]] = {}
    """Files of sources that the plugin reads: globs of their paths, each with the reason for the person who
    is to grant it: `{"configs/*.yaml": "they name the heads of every model"}`.

    Only a shim has a method to read with, `CodeIndex.read_file`.
    """

    Configuration: ClassVar[type] = configuration.NoConfiguration
    """A dataclass of which every field has a default."""

    configuration: Any

    def __init__(self, configuration: Any) -> None:
        """Override this to check what the types of the configuration leave open; raise
        `ConfigurationError`.
        """
        self.configuration = configuration

    @classmethod
    def documentation(cls) -> str:
        return inspect.cleandoc(vars(cls).get("__doc__") or "")

    @classmethod
    def configuration_schema(cls) -> str:
        """The JSON Schema of the configuration, as JSON. Raises `AnnotationError`."""
        return json.dumps(configuration.schema(cls.Configuration, vars(cls)))


P = TypeVar("P", bound=Plugin)


def configured(plugin: type[P], given: str | Mapping[str, Any] = "{}") -> P:
    """Makes the plugin from its configuration, a JSON document or what one says. The host does the same.

    Raises `ConfigurationError`, which points to the value that is unknown, of the wrong type, or refused by
    the plugin.
    """
    document = given if isinstance(given, str) else json.dumps(given)
    return plugin(configuration.read(plugin.Configuration, vars(plugin), document))
