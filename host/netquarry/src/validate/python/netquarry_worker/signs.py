"""Signs that a bundle touches what could make it lie to the validator, seen while it runs.

The host reads the text of a bundle as well. This sees what a text does not say: names that are put together, and
attributes of torch that are not what they were. Both are evidence and no guard: whoever is in the process can undo this.

An audit hook hears of every frame that anybody asks for, and torch, typing and dataclasses ask all the time. Only what
the bundle's own code asks for is a sign.
"""

import builtins
import ctypes
import gc
import inspect
import json
import os
import sys
import threading
import types

from netquarry_worker.report import NAME_LENGTH, bounded

# What counts, by the audit event that tells of it.
EVENTS = {
    "sys._current_exceptions": "frames",
    "sys._current_frames": "frames",
    "sys._getframe": "frames",
    "sys._getframemodulename": "frames",
    "gc.get_objects": "collector",
    "gc.get_referents": "collector",
    "gc.get_referrers": "collector",
    "sys.addaudithook": "tracing",
    "sys.monitoring.register_callback": "tracing",
    "sys.setprofile": "tracing",
    "sys.settrace": "tracing",
    "os.kill": "signals",
    "os.killpg": "signals",
    "signal.pthread_kill": "signals",
    "code.__new__": "memory",
    "ctypes.PyObj_FromPtr": "memory",
    "ctypes.addressof": "memory",
    "ctypes.call_function": "memory",
    "ctypes.cdata": "memory",
    "ctypes.cdata/buffer": "memory",
    "ctypes.dlopen": "memory",
    "ctypes.dlsym": "memory",
    "ctypes.dlsym/handle": "memory",
    "ctypes.string_at": "memory",
    "ctypes.wstring_at": "memory",
    # Only with the names below.
    "object.__getattr__": "frames",
    "object.__setattr__": "modules",
}
FRAMES = ("tb_frame", "gi_frame", "cr_frame", "ag_frame")
CODE = ("__code__", "__defaults__", "__kwdefaults__")
# They do for the caller what he could do himself.
GO_BETWEENS = (ctypes.__file__, inspect.__file__, threading.__file__)
# So far out a caller is looked for.
DEPTH = 12
MISSING = object()


def listen(path, reporter):
    """Tells of what the code of the file at `path` does from now on. Nothing can take this away again."""
    main = threading.get_ident()
    get_ident = threading.get_ident
    get_reason = EVENTS.get
    looking = False

    def hear(event, arguments):
        nonlocal looking
        reason = get_reason(event)
        if reason is None or looking:
            return
        what = event
        if event == "object.__getattr__":
            what = arguments[1]
            if what not in FRAMES:
                return
        # What this reads is told to this as well.
        looking = True
        try:
            if event == "object.__setattr__":
                reason, what = changed_code(path, *arguments[:2])
            line = line_of_caller(path, sys._getframe(1)) if reason else None
            if line is not None:
                reporter.note(reason, what, line)
                # Another thread may be in the middle of a message.
                if get_ident() == main:
                    reporter.flush()
        except Exception:
            pass  # The bundle has spoiled what this needs.
        finally:
            looking = False

    sys.addaudithook(hear)


def changed_code(path, function, name):
    """Why it counts that an attribute of somebody else's function is set, and what that is."""
    if type(function) is not types.FunctionType or name not in CODE or function.__code__.co_filename == path:
        return None, None
    module = function.__globals__.get("__name__")
    reason = "torch" if root_of(module) == "torch" else "modules"
    return reason, f"{module}.{function.__qualname__}.{name}"


def line_of_caller(path, frame):
    """The line of the file at `path` where it, and nobody else, is the caller."""
    for _ in range(DEPTH):
        if frame is None:
            return None
        file = frame.f_code.co_filename
        if file == path:
            return frame.f_lineno
        # Of a text that was made at run time only its caller tells whose it is.
        if file not in GO_BETWEENS and not file.startswith("<"):
            return None
        frame = frame.f_back
    return None


class Names:
    """What a module or a class holds, as it was before any bundle ran."""

    def __init__(self, path, reason, owner):
        self.path = path
        self.reason = reason
        names = vars(owner)
        # A class shows its dictionary only through a proxy.
        self._now = names if type(names) is dict else gc.get_referents(names)[0]
        self._before = dict(self._now)

    def changes(self):
        """Where the changes of the dictionary are counted."""
        return ctypes.c_uint64.from_address(id(self._now) + CHANGES_AT)

    def replaced(self):
        """The names under which something else can be called than before, or nothing any more."""
        for name, value in list(self._now.items()):
            before = self._before.get(name, MISSING)
            if before is MISSING:
                if callable(value) and not is_of(root_of(self.path), value):
                    yield name
            elif before is not value and (callable(before) or callable(value)) and not self._wraps(name, value):
                yield name
        yield from (name for name, before in self._before.items() if name not in self._now and callable(before))

    def _wraps(self, name, value):
        """Whether the package replaced this one itself, by a function of the same name: torch does on first use."""
        return is_of(root_of(self.path), value) and getattr(value, "__name__", None) == name


class Known:
    """The names of several modules and classes.

    To look at every value would write to it, since it counts who looks, and so copy the memory of the worker: eight
    milliseconds of the first look, and two of each after it. So only dictionaries are looked at that say that they
    changed; where they do not say, all are.
    """

    def __init__(self, names):
        self._names = names
        self._counters = [each.changes() for each in names] if COUNTS_CHANGES else None
        self._seen = self._counts()

    def changed(self):
        """Those that may have changed since this was asked the last time."""
        if self._counters is None:
            return self._names
        counts, seen = self._counts(), self._seen
        if counts == seen:
            return ()
        self._seen = counts
        starts = range(0, len(counts), CHANGES_SIZE)
        at = [slice(start, start + CHANGES_SIZE) for start in starts]
        return [names for names, place in zip(self._names, at) if counts[place] != seen[place]]

    def _counts(self):
        return b"".join(map(bytes, self._counters or ()))


# Where CPython up to version 3.13 counts the changes of a dictionary, in bytes from its start. Version 3.14 has flags
# there that stay as they are, and builds without a global lock a pointer to the class.
CHANGES_AT = 24
CHANGES_SIZE = 8


def counts_changes():
    """Whether a dictionary of this interpreter has such a count.

    Whatever is there instead can be read without harm: `id` is the address of an object, `__basicsize__` says how far it
    extends at least, and every dictionary that is read so is kept alive by whoever reads it. Nothing is ever written.
    """
    if sys.implementation.name != "cpython" or dict.__basicsize__ < CHANGES_AT + CHANGES_SIZE:
        return False
    probe = {"a": 1}
    counter = ctypes.c_uint64.from_address(id(probe) + CHANGES_AT)
    before = counter.value
    if probe["a"] != 1 or counter.value != before:
        return False
    probe["a"] = 2
    after = counter.value
    del probe["a"]
    return before != after != counter.value


COUNTS_CHANGES = counts_changes()


def is_of(root, value):
    """Whether a package made this value itself: torch has names that it binds on first use.

    `isinstance` would ask the value, which may be of the bundle.
    """
    if type(value) is types.BuiltinFunctionType:
        return True
    if type(value) is types.FunctionType:
        return root_of(value.__globals__.get("__name__")) == root
    if type(value) is types.ModuleType:
        return root_of(vars(value).get("__name__")) == root
    is_class = issubclass(type(value), type)
    return is_class and root_of(type.__getattribute__(value, "__dict__").get("__module__")) == root


def root_of(path):
    return path.partition(".")[0] if type(path) is str else None


def remember():
    """What torch and the modules that the validator itself uses hold; taken before anything foreign runs."""
    modules = [module for name, module in sys.modules.items() if root_of(name) == "netquarry_worker"]
    known = [Names(module.__name__, "modules", module) for module in (builtins, json, os, *modules)]
    report = sys.modules["netquarry_worker.report"].Report
    known.append(Names("netquarry_worker.report.Report", "modules", report))
    torch = sys.modules.get("torch")
    if torch is None:
        return Known(known)
    nn = torch.nn
    modules = (torch, torch.autograd, torch.fft, torch.linalg, torch.special, nn, nn.functional, nn.init, nn.utils)
    known += [Names(module.__name__, "torch", module) for module in modules]
    known.append(Names("torch.Tensor", "torch", torch.Tensor))
    known.append(Names("torch._C.TensorBase", "torch", torch.Tensor.__base__))
    classes = [value for value in vars(nn).values() if isinstance(value, type) and value.__module__.startswith("torch")]
    known += [Names(f"torch.nn.{value.__name__}", "torch", value) for value in classes]
    return Known(known)


def look(known, reporter):
    """Notes what is not as it was."""
    try:
        for names in known.changed():
            for name in names.replaced():
                reporter.note(names.reason, f"{names.path}.{bounded(name, NAME_LENGTH)}")
    except Exception:
        pass  # The bundle has spoiled what this needs.
