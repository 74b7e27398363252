"""What can be told of a plugin without building it."""

import json
from dataclasses import dataclass
from typing import Any

from ..plugin import Plugin, configured
from ..shape import AnnotationError, ConfigurationError
from .problem import Problem
from .project import NAME, VERSION, Project

_CASE_KEYS = {"configuration", "input", "output"}


@dataclass(frozen=True)
class Checked:
    """A plugin that can be built."""

    project: Project
    plugin: type[Plugin]
    examples: dict[str, str]
    """Documents by name."""


def check(project: Project) -> Checked:
    """Loads the plugin and looks at all that it says of itself. Raises `Problem`."""
    plugin = project.load()
    _check_identity(project, plugin)
    _check_configuration(plugin)
    return Checked(project, plugin, _examples(project, plugin))


def _check_identity(project: Project, plugin: type[Plugin]) -> None:
    for attribute, expected, form in (
        ("name", project.name, NAME),
        ("version", project.version, VERSION),
    ):
        value = getattr(plugin, attribute, None)
        if not isinstance(value, str):
            raise Problem(
                f"`{plugin.__name__}` has no {attribute}.",
                f'Write `{attribute} = "{expected}"` into the class.',
            )
        if value != expected:
            raise Problem(
                f"The {attribute} of `{plugin.__name__}` is `{value}`, and that of its project `{expected}`.",
                "Make them equal.",
            )
        if form.fullmatch(value) is None:
            right = "lower-case letters, digits and hyphens, such as `shim-acme`"
            right = right if form is NAME else "a semantic version, such as `1.2.0`"
            raise Problem(f"`{value}` cannot be the {attribute} of a plugin.", f"It is {right}.")
    if not plugin.documentation():
        raise Problem(
            f"`{plugin.__name__}` has no docstring.",
            "It is the documentation of the plugin; its first line is a summary.",
        )


def _check_configuration(plugin: type[Plugin]) -> None:
    try:
        plugin.configuration_schema()
        configured(plugin)
    except (AnnotationError, NameError) as error:
        raise Problem(f"The configuration has no schema: {error}.", "Correct the annotation.") from None
    except ConfigurationError as error:
        raise Problem(f"The defaults of the configuration are refused: {error}.", "Correct them.") from None


def _examples(project: Project, plugin: type[Plugin]) -> dict[str, str]:
    examples: dict[str, str] = {}
    for pattern in plugin.examples:
        paths = sorted(project.folder.glob(pattern))
        if not paths:
            raise Problem(
                f"No file of the project fits `{pattern}`, where examples are.", "Correct `examples`."
            )
        for path in paths:
            if NAME.fullmatch(path.stem) is None or path.stem in examples:
                raise Problem(
                    f"`{path}` cannot be an example.",
                    "Its name has lower-case letters, digits and hyphens, and no other example has the same.",
                )
            examples[path.stem] = path.read_text(encoding="utf-8")
            _check_case(str(path), examples[path.stem], plugin)
    return examples


def _check_case(path: str, document: str, plugin: type[Plugin]) -> None:
    try:
        case: Any = json.loads(document)
    except ValueError as error:
        raise Problem(f"`{path}` is not JSON: {error}.", "Correct it.") from None
    if not isinstance(case, dict) or "input" not in case or not case.keys() <= _CASE_KEYS:
        raise Problem(
            f"`{path}` is no case.",
            'A case is an object with "configuration", "input" and "output", which may be null.',
        )
    try:
        configured(plugin, json.dumps(case.get("configuration", {})))
    except ConfigurationError as error:
        raise Problem(f"The configuration in `{path}` is refused: {error}.", "Correct it.") from None
