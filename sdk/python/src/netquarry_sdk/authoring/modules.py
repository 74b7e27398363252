"""The modules that a plugin is made of."""

import importlib.machinery
import shutil
import sys
from pathlib import Path
from types import ModuleType

from .problem import Problem

_LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.pyc", ".*")


def foreign(loaded: set[str]) -> list[str]:
    """Top-level names among loaded modules that come with neither Python nor the interpreter's start,
    sorted.
    """
    tops = {name.partition(".")[0] for name in loaded}
    return sorted(top for top in tops - set(sys.stdlib_module_names) if top != "__main__")


def check_pure(loaded: set[str]) -> None:
    """Raises `Problem` where one of the modules is compiled."""
    for name in sorted(loaded):
        file = getattr(sys.modules[name], "__file__", None) or ""
        is_foreign = name.partition(".")[0] not in sys.stdlib_module_names
        if is_foreign and file.endswith(tuple(importlib.machinery.EXTENSION_SUFFIXES)):
            raise Problem(
                f"The plugin imports `{name}`, which is compiled for this machine (`{file}`).",
                "Only modules in Python come along into a component; do without it.",
            )


def copy(top: str, folder: Path) -> None:
    """Copies a top-level module or package, with the data files in it, into `folder`."""
    module: ModuleType = sys.modules[top]
    for place in getattr(module, "__path__", ()):
        shutil.copytree(place, folder / top, ignore=_LEFT_OUT, dirs_exist_ok=True)
    if not hasattr(module, "__path__") and module.__file__ is not None:
        shutil.copy(module.__file__, folder)
