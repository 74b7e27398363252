"""The folder in which somebody writes a plugin, and the plugin in it."""

import importlib
import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, TypeGuard

from .. import telling
from ..plugin import Plugin
from .problem import Problem

MANIFEST = "pyproject.toml"
_TABLE = '[tool.netquarry]\n    plugin = "package:Class"'


@dataclass(frozen=True)
class Project:
    folder: Path
    name: str
    version: str
    module: str
    class_name: str

    @classmethod
    def open(cls, folder: Path) -> "Project":
        """Reads `pyproject.toml`. Raises `Problem`."""
        path = folder / MANIFEST
        manifest = _manifest(path)
        project = manifest.get("project", {})
        missing = [key for key in ("name", "version") if not isinstance(project.get(key), str)]
        if missing:
            raise Problem(
                f"`{path}` has no `{missing[0]}` in [project].",
                "A plugin has the name and version of its project.",
            )
        plugin = manifest.get("tool", {}).get("netquarry", {}).get("plugin")
        if plugin is None:
            raise Problem(f"`{path}` does not say where the plugin is.", f"Add to it:\n\n    {_TABLE}")
        module, separator, class_name = str(plugin).partition(":")
        if not (separator and module and class_name):
            raise Problem(
                f"`plugin = {plugin!r}` in `{path}` names no class.",
                'It is a module and a class in it: `plugin = "shim_acme:ShimAcme"`.',
            )
        return cls(folder, project["name"], project["version"], module, class_name)

    @property
    def roots(self) -> list[Path]:
        """Where its modules are looked for."""
        return [root for root in (self.folder / "src", self.folder) if root.is_dir()]

    @property
    def component(self) -> Path:
        """Where the component is put that is built of it."""
        return self.folder / "target" / f"{self.name}.wasm"

    def load(self) -> type[Plugin]:
        """Imports the class of the plugin. Raises `Problem`."""
        sys.path[:0] = [str(root.resolve()) for root in self.roots]
        importlib.invalidate_caches()
        return _plugin(self._imported(), self.class_name)

    def _imported(self) -> ModuleType:
        try:
            return importlib.import_module(self.module)
        except ModuleNotFoundError as error:
            if error.name is not None and (
                self.module == error.name or self.module.startswith(f"{error.name}.")
            ):
                places = " and ".join(f"`{root}`" for root in self.roots)
                raise Problem(
                    f"There is no module `{self.module}` in {places}.",
                    f"Correct [tool.netquarry] in `{MANIFEST}`.",
                ) from None
            raise self._broken(error) from error
        except Exception as error:
            raise self._broken(error) from error

    def _broken(self, error: Exception) -> Problem:
        return Problem(
            f"The module `{self.module}` cannot be imported:\n{telling.told(error)}",
            "It has to be importable by the Python that builds it, with all that it imports.",
        )


def _manifest(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise Problem(
            f"There is no `{path}`.",
            "Name the folder of a plugin, or make one: "
            "`netquarry plugin new NAME --kind KIND --language python`.",
        ) from None
    except (OSError, ValueError) as error:
        raise Problem(f"`{path}` cannot be read: {error}", "Correct it.") from None


def _plugin(module: ModuleType, class_name: str) -> type[Plugin]:
    place = f"`{class_name}` in `{module.__name__}`"
    plugin: Any = getattr(module, class_name, None)
    if not isinstance(plugin, type):
        classes = [name for name, value in vars(module).items() if _is_plugin(value)]
        there = f" There is {', '.join(f'`{name}`' for name in classes)}." if classes else ""
        raise Problem(f"There is no class {place}.{there}", f"Correct [tool.netquarry] in `{MANIFEST}`.")
    if not _is_plugin(plugin):
        raise Problem(
            f"{place} is no plugin.", "Derive it from DiscoveryRule, RepoShim, DedupStrategy or SpecEmitter."
        )
    missing = sorted(plugin.__abstractmethods__)
    if missing:
        listed = " and ".join(f"`{name}`" for name in missing)
        raise Problem(f"{place} has no {listed}.", f"A plugin of the kind {plugin.kind.value} defines it.")
    return plugin


def _is_plugin(value: object) -> TypeGuard[type[Plugin]]:
    # Only the base classes of the kinds have a kind, and those who derive from them.
    return isinstance(value, type) and issubclass(value, Plugin) and hasattr(value, "kind")


VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?")
NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
