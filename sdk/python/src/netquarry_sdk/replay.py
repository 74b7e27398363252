"""Calls that failed in a run, made again by CPython, where a debugger can look at them.

`netquarry run --keep-failed-calls kept` keeps them, each in a folder. To make one again:

    from netquarry_sdk.replay import replay
    from shim_acme import ShimAcme

    print(replay(ShimAcme, "kept/shim-acme-0.1.0-answer-dynamic-1a2b3c4d"))

The plugin is configured as it was, and what it asks of the host is answered as it was.
"""

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from os import PathLike
from pathlib import Path
from types import SimpleNamespace, TracebackType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from .dedup import Blocks, DedupStrategy, StructureIndex
from .discovery import ClassDescription, DiscoveryRule
from .emit import Block, Emitted, SpecEmitter
from .host_blocks import HostBlocks
from .host_index import HostIndex
from .plugin import Plugin, configured
from .shim import CodeIndex, Question, RepoShim
from .wire import Bindings, incoming

_FORMAT = 2
"""The format of kept calls that is read here."""


class KeptCallError(Exception):
    """The folder holds no such call of the format that this SDK reads, or the plugin asks what it did not ask
    when the call was kept.
    """


def replay(plugin: type[Plugin], folder: str | PathLike[str]) -> Any:
    """Makes the kept call in `folder` again and returns what the plugin answers; what it raises goes through.

    Raises `KeptCallError`.
    """
    call = _read(Path(folder) / "call.json")
    function, arguments = call.function, call.arguments
    host = _Host(call.host_calls)
    made: Any = configured(plugin, call.configuration)
    match function, made:
        case "discover", DiscoveryRule():
            return made.discover(_argument(Sequence[ClassDescription], arguments))
        case "tables", RepoShim():
            return made.tables()
        case "answer-dynamic", RepoShim():
            index = HostIndex(_Resource(host, "code-index", CodeIndex), _BINDINGS)
            return made.answer(_argument(Question, arguments), index)
        case "deduplicate", DedupStrategy():
            return made.deduplicate(HostBlocks(_Resource(host, "block-set", Blocks), _BINDINGS))
        case "emit-block", SpecEmitter():
            return made.emit_block(_argument(Block, arguments))
        case "emit-index", SpecEmitter():
            return made.emit_index(_argument(Sequence[Emitted], arguments))
        case _:
            raise KeptCallError(f"a {plugin.kind.value} has no function {function}")


@dataclasses.dataclass(frozen=True)
class _Call:
    """What is read of a kept call."""

    function: str
    configuration: Mapping[str, Any]
    arguments: Sequence[Any]
    host_calls: Sequence["_HostCall"]


@dataclasses.dataclass(frozen=True)
class _HostCall:
    function: str
    arguments: Any
    answer: Mapping[str, Any]


def _argument(hint: Any, arguments: Sequence[Any]) -> Any:
    """The one argument of a function."""
    if len(arguments) != 1:
        raise KeptCallError(f"the kept call has {len(arguments)} arguments, and its function has one")
    try:
        return incoming(hint)(_received(hint, arguments[0]))
    except _MISFITS as error:
        raise KeptCallError(f"the argument of the kept call is none of its function: {error!r}") from error


_MISFITS = (AttributeError, KeyError, TypeError, ValueError)
"""What reading a value as another than it is comes to."""


def _read(path: Path) -> _Call:
    try:
        call = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise KeptCallError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise KeptCallError(f"{path} is not a kept call: {error}") from error
    if not isinstance(call, dict) or type(call.get("format")) is not int:
        raise KeptCallError(f"{path} is not a kept call: it has no format")
    if call["format"] != _FORMAT:
        raise KeptCallError(
            f"{path} is a kept call of format {call['format']}, and this SDK reads format {_FORMAT}"
        )
    if call.get("host_calls") is None:
        raise KeptCallError(f"{path} cannot be made again: what the host answered was too much to be kept")
    try:
        host_calls = [_host_call(host_call) for host_call in call["host_calls"]]
        return _Call(
            _entry(call, "function", str),
            _entry(call, "configuration", dict),
            _entry(call, "arguments", list),
            host_calls,
        )
    except _MISFITS as error:
        raise KeptCallError(f"{path} is not a kept call: {error}") from error


def _host_call(call: Any) -> _HostCall:
    answer = _entry(call, "answer", dict)
    if answer.keys() not in ({"returned"}, {"trapped"}):
        raise ValueError("an answer of the host has neither `returned` nor `trapped`")
    if "arguments" not in call:
        raise ValueError("a call of the host has no `arguments`")
    return _HostCall(_entry(call, "function", str), call["arguments"], answer)


def _entry(record: Any, name: str, kind: type) -> Any:
    if not isinstance(record, dict) or not isinstance(record.get(name), kind):
        raise ValueError(f"`{name}` is missing or no `{kind.__name__}`")
    return record[name]


class _Host:
    """Answers as the host did."""

    def __init__(self, calls: Sequence[_HostCall]) -> None:
        self._calls: dict[str, list[_HostCall]] = {}
        for call in calls:
            self._calls.setdefault(call.function, []).append(call)

    def answer(self, function: str, arguments: Sequence[Any]) -> Any:
        written = [_written(argument) for argument in arguments] or None
        for call in self._calls.get(function, ()):
            if call.arguments == written:
                if "trapped" in call.answer:
                    raise KeptCallError(f"the host refused {function}: {call.answer['trapped']}")
                return call.answer["returned"]
        raise KeptCallError(f"it asks {function} about {written}, and the kept call has no answer to that")


class _Resource:
    """Has the methods of a resource of the host, as componentize-py gives them to a plugin."""

    def __init__(self, host: _Host, name: str, interface: type, *own: Any) -> None:
        self._host = host
        self._name = name
        self._interface = interface
        self._own = own
        """What the kept call knows the resource by."""

    def __getattr__(self, method: str) -> Callable[..., Any]:
        function = f"{self._name}.{method.replace('_', '-')}"

        def ask(*arguments: Any) -> Any:
            answer = self._host.answer(function, [*self._own, *arguments])
            if isinstance(answer, dict) and answer.keys() <= {"Ok", "Err"}:
                if "Err" in answer:
                    raise _RefusedError(_case(answer["Err"]))
                answer = answer["Ok"]
            if method == "structure_index":
                return _Resource(self._host, "structure-index", StructureIndex, answer)
            counterpart = getattr(self._interface, "__len__" if method == "len" else method)
            hint = get_type_hints(counterpart, include_extras=True)["return"]
            try:
                return _received(hint, answer)
            except _MISFITS as error:
                raise KeptCallError(f"the kept answer is none of {function}: {error!r}") from error

        return ask

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """A resource is given back; nothing is behind this one."""


class _RefusedError(Exception):
    """Stands in for the error of a result."""

    def __init__(self, value: Any) -> None:
        super().__init__(value)
        self.value = value


class _Records(dict[str, Any]):
    """Makes a record of any name."""

    def __missing__(self, name: str) -> type[SimpleNamespace]:
        return SimpleNamespace


_BINDINGS = Bindings(_RefusedError, _Records())


def _case(error: Any) -> Any:
    """The error of a result: words, or a case of `file-error`."""
    match error:
        case {"Other": sentence}:
            return type("FileError_Other", (), {"value": sentence})()
        case "NotPermitted" | "Missing":
            return type(f"FileError_{error}", (), {})()
        case _:
            return error


def _written(value: Any) -> Any:
    """A value of the bindings as the kept call has it."""
    match value:
        case SimpleNamespace():
            return {name: _written(inner) for name, inner in vars(value).items()}
        case list() | tuple():
            return [_written(inner) for inner in value]
        case _:
            return value


def _received(hint: Any, value: Any) -> Any:
    """A value, as the bindings would have it, of what the kept call has; `incoming` takes it."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _received(arguments[0], value)
    if origin is Sequence:
        return tuple(_received(arguments[0], inner) for inner in value)
    if origin is Mapping:
        return tuple((key, _received(arguments[1], inner)) for key, inner in value)
    if type(None) in arguments:
        return None if value is None else _received(arguments[0], value)
    if isinstance(hint, type) and issubclass(hint, Enum):
        for member in hint:
            if member.name.replace("_", "").lower() == value.lower():
                return member
        raise ValueError(f"{value!r} is no {hint.__name__}")
    if dataclasses.is_dataclass(hint):
        hints = get_type_hints(hint, include_extras=True)
        make: Callable[..., Any] = hint  # type: ignore[assignment]
        return make(
            **{
                field.name: _received(hints[field.name], value[field.name])
                for field in dataclasses.fields(hint)
            }
        )
    return value
