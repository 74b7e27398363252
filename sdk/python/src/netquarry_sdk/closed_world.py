"""What Python expects of a machine, where there is none.

A component has no files, streams or clock: WASI is replaced by stubs that end the call without a word.
`close` is called once, when all modules are loaded and the memory of the interpreter is about to become the
component. It makes a message or an exception of what would end a call otherwise.
"""

import builtins
import importlib.machinery
import io
import logging
import random
import sys
import time
import warnings
from collections.abc import Sequence
from types import ModuleType
from typing import Any, NoReturn

from . import log


def close() -> None:
    sys.meta_path[:] = [*_finders_without_files(), _NoModules]
    builtins.open = io.open = _no_files
    sys.stdin, sys.stdout, sys.stderr = (
        io.StringIO(),
        _LogStream(log.Level.INFO),
        _LogStream(log.Level.WARNING),
    )
    logging.getLogger().handlers[:] = [_LogHandler()]
    warnings.showwarning = _show_warning
    # The seed would be the one of the build, another one in each.
    random.seed(0)
    for clock in ("time", "monotonic", "perf_counter", "process_time", "thread_time"):
        setattr(time, clock, lambda: 0.0)
        setattr(time, f"{clock}_ns", lambda: 0)


def _finders_without_files() -> list[Any]:
    without = (importlib.machinery.BuiltinImporter, importlib.machinery.FrozenImporter)
    return [finder for finder in sys.meta_path if finder in without]


class _NoModules:
    @classmethod
    def find_spec(
        cls, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> NoReturn:
        advice = "import it at the top of a module, so that it comes along"
        sentence = f"no module named `{name}` in the component; {advice}"
        raise ModuleNotFoundError(sentence, name=name)


def _no_files(file: Any, *_: Any, **__: Any) -> NoReturn:
    raise PermissionError(
        f"a plugin has no files; read `{file}` at the top of a module, while the component is built"
    )


class _LogStream(io.TextIOBase):
    """Logs what is printed, line by line."""

    def __init__(self, level: log.Level) -> None:
        self._level = level
        self._line = ""

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            log.log(self._level, line)
        return len(text)


class _LogHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        level = max(
            (level for level in log.Level if level.value <= record.levelno),
            key=_value,
            default=log.Level.DEBUG,
        )
        log.log(level, record.getMessage())


def _value(level: log.Level) -> int:
    return level.value


def _show_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    log.warning(f"{category.__name__}: {message}")
