"""Telling what an exception was, where there are no files.

The module `traceback` opens the source of every frame to show its line, and inside of a component an attempt
to open a file ends the call. The lines shown here were read before.
"""

import sys
import traceback
from types import TracebackType

_lines: dict[str, list[str]] = {}


def remember_sources(files: list[str]) -> None:
    """Reads files, for their lines to be shown later."""
    for file in files:
        try:
            with open(file, encoding="utf-8") as source:
                _lines[file] = source.read().splitlines()
        except (OSError, ValueError):
            continue


def loaded_files() -> list[str]:
    """The source files of all modules that are loaded and do not come with Python."""
    foreign = [
        module
        for name, module in sys.modules.items()
        if name.partition(".")[0] not in sys.stdlib_module_names
    ]
    files = (getattr(module, "__file__", None) for module in foreign)
    return sorted(file for file in files if file is not None and file.endswith(".py"))


def last_line(error: BaseException) -> str:
    """As it stands at the end of a traceback: `ValueError: no such key`."""
    message = str(error)
    return f"{type(error).__qualname__}: {message}" if message else type(error).__qualname__


def told(error: BaseException) -> str:
    """The traceback, with those of the exceptions that led to it."""
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    parts = [] if before is None else [told(before), "which led to"]
    return "\n".join([*parts, *_frames(error.__traceback__), last_line(error)])


def _frames(trace: TracebackType | None) -> list[str]:
    frames: list[str] = []
    for frame, number in traceback.walk_tb(trace):
        code = frame.f_code
        lines = _lines.get(code.co_filename, [])
        # Where modules are mounted while a component is built.
        file = code.co_filename.removeprefix("/0/")
        frames.append(f'  File "{file}", line {number}, in {code.co_qualname}')
        if 0 < number <= len(lines):
            frames.append(f"    {lines[number - 1].strip()}")
    return frames
