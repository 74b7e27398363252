"""What a child tells the host, on a descriptor of its own.

Every message carries the token of the job; anything else on the descriptor was written by the bundle, and the host
treats it so. Whatever is told about an exception is plain data made here: `str()` of a foreign exception runs foreign
code, and may fail or never end.
"""

import os

from netquarry_worker import protocol

TEXT_LENGTH = 2000
NAME_LENGTH = 200
FRAMES = 60
CAUSES = 5
# So many signs are told of one bundle.
SIGNS = 32


class Report:
    def __init__(self, descriptor, token):
        self._descriptor = descriptor
        self._token = token
        # Those that were noted, and those of them that were not told yet.
        self._known_signs = set()
        self._signs = []

    def note(self, reason, what, line=None):
        """A sign that the bundle touches what it could lie by; told with the next message."""
        sign = (reason, what, line)
        if sign not in self._known_signs and len(self._known_signs) < SIGNS:
            self._known_signs.add(sign)
            self._signs.append({"reason": reason, "what": what, "line": line})

    def flush(self):
        signs, self._signs = self._signs, []
        if signs:
            self._write("tainted", signs=signs)

    def send(self, event, **values):
        self.flush()
        self._write(event, **values)

    def _write(self, event, **values):
        remaining = memoryview(protocol.encode({"token": self._token, "event": event, **values}))
        while remaining:
            remaining = remaining[os.write(self._descriptor, remaining) :]


def describe(error):
    """An exception as data, with those that led to it, the innermost frame last."""
    described = _describe_one(error)
    causes = []
    seen = {id(error)}
    cause = error.__cause__ or error.__context__
    while cause is not None and id(cause) not in seen and len(causes) < CAUSES:
        seen.add(id(cause))
        causes.append(_describe_one(cause))
        cause = cause.__cause__ or cause.__context__
    described["causes"] = causes
    return described


def _describe_one(error):
    described = {
        "type": bounded(type(error).__name__, NAME_LENGTH),
        "bases": [base.__name__ for base in type(error).__mro__ if base.__module__ == "builtins"],
        "message": message_of(error),
        "name": _text_or_none(getattr(error, "name", None)),
        "frames": _frames(error.__traceback__),
    }
    if isinstance(error, SyntaxError):
        file = bounded(str(error.filename))
        described["frames"].append({"file": file, "line": error.lineno or 0, "function": ""})
        described["message"] = bounded(str(error.msg))
    return described


def message_of(error):
    """The text of an exception, bounded, without what differs between runs as far as that can be seen here."""
    try:
        return bounded(str(error))
    except Exception as failure:
        return f"<its text could not be made: {type(failure).__name__}>"


def _text_or_none(value):
    return bounded(value) if isinstance(value, str) else None


def bounded(text, most=TEXT_LENGTH):
    """Of any class derived from `str`, whose own methods are not asked."""
    return str.__getitem__(text, slice(most))


def _frames(traceback):
    frames = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        file, function = bounded(code.co_filename), bounded(code.co_qualname, NAME_LENGTH)
        frames.append({"file": file, "line": traceback.tb_lineno or 0, "function": function})
        traceback = traceback.tb_next
    # Of an endless recursion the two ends tell enough.
    if len(frames) > FRAMES:
        frames = frames[: FRAMES // 2] + frames[-FRAMES // 2 :]
    return frames
