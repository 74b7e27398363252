"""What the tests of any plugin can ask."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .. import dedup, discovery, emit, shim
from ..authoring.check import Checked, check
from ..authoring.project import Project
from ..plugin import Plugin, configured
from ..shape import ConfigurationError
from ..wire import Bindings, outgoing

# The records go out to themselves.
_SELF = Bindings.of(Exception, discovery, shim, dedup, emit)


def refused_configuration(plugin: type[Plugin], given: str | Mapping[str, Any]) -> ConfigurationError:
    """The error with which the plugin refuses a configuration: `.pointer` and `.message`.

    Raises `AssertionError` where it accepts it.
    """
    try:
        configured(plugin, given)
    except ConfigurationError as error:
        return error
    raise AssertionError(f"{plugin.__name__} accepts the configuration {given}")


def assert_fits(record: Any) -> None:
    """Raises `MisfitError` where the host would not take an answer: `assert_fits(shim.tables())`.

    Numbers out of range, a string in the place of a list, and values of other types are found.
    """
    kind: Any = type(record)
    outgoing(kind, _SELF)(record)


def check_project(folder: Path) -> Checked:
    """What `python -m netquarry_sdk check` does. Raises `netquarry_sdk.authoring.problem.Problem`."""
    return check(Project.open(folder))
