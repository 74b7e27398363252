"""Messages to the person who runs the host; in native tests they go to the logger `netquarry_sdk.log`.

A message is cut after 4 KiB, and a call that logs more than 1,000 messages fails.
"""

import logging
from collections.abc import Callable
from enum import Enum


class Level(Enum):
    """How much a message matters; the value is the level of the module `logging`."""

    DEBUG = logging.DEBUG
    INFO = logging.INFO
    WARNING = logging.WARNING
    ERROR = logging.ERROR


def _to_logging(level: Level, message: str) -> None:
    logging.getLogger(__name__).log(level.value, "%s", message)


_sink: Callable[[Level, str], None] = _to_logging


def send_to(sink: Callable[[Level, str], None]) -> None:
    """Sends all messages from now on to `sink`. A component does this once, with the host's function."""
    global _sink
    _sink = sink


def log(level: Level, message: str) -> None:
    _sink(level, message)


def debug(message: str) -> None:
    log(Level.DEBUG, message)


def info(message: str) -> None:
    log(Level.INFO, message)


def warning(message: str) -> None:
    log(Level.WARNING, message)


def error(message: str) -> None:
    log(Level.ERROR, message)
