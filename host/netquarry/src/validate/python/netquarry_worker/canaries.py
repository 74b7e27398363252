"""Tries what a layer of the sandbox has to refuse, as soon as the layer is said to be there."""

import ctypes
import fcntl
import os
import resource
import signal
import socket
import termios

from netquarry_worker import confinement

# <sys/prctl.h>
PR_GET_NO_NEW_PRIVS = 39

_library = ctypes.CDLL(None, use_errno=True)


def holds(layer, probe):
    """Whether the layer does what it is there for. One that nobody knows how to try does not count."""
    return layer in CANARIES and CANARIES[layer](probe)


def refused(attempt, *arguments):
    """Whether an attempt was refused; one that fails for another reason shows nothing."""
    try:
        attempt(*arguments)
    except PermissionError:
        return True
    except OSError:
        return False
    return False


def files(probe):
    attempts = ((open, probe["file"]), (open, probe["file"], "a"), (os.listdir, os.path.dirname(probe["file"])))
    return all(refused(*attempt) for attempt in attempts)


def devices(_probe):
    with open(os.devnull, "rb") as device:
        return refused(fcntl.ioctl, device, termios.TCGETS, bytes(64))


def network(probe):
    with socket.socket() as connection:
        return refused(connection.connect, ("127.0.0.1", probe["port"]))


def abstract_sockets(probe):
    with socket.socket(socket.AF_UNIX) as connection:
        return refused(connection.connect, "\0" + probe["abstract_socket"])


def capabilities(_probe):
    reading = 1 << confinement.CAP_DAC_READ_SEARCH
    effective, permitted, *others = confinement.capabilities()
    return {effective, permitted} <= {0, reading} and not any(others)


def limits(_probe):
    unlimited = resource.RLIM_INFINITY
    kinds = (resource.RLIMIT_CPU, resource.RLIMIT_AS, resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE)
    return all(unlimited not in resource.getrlimit(kind) for kind in kinds)


def system_calls(_probe):
    # To leave for no new namespace changes nothing, and needs no rights.
    return _library.unshare(0) == -1 and refused(socket.socket) and refused(os.kill, os.getppid(), 0)


CANARIES = {
    "process-group": lambda probe: os.getsid(0) == os.getpid(),
    "scratch-directory": lambda probe: os.path.samefile(".", os.environ["TMPDIR"]),
    "rlimits": limits,
    "capabilities": capabilities,
    "no-new-privileges": lambda probe: _library.prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1,
    "landlock-files": files,
    "landlock-truncation": lambda probe: refused(os.truncate, probe["file"], 0),
    "landlock-devices": devices,
    "landlock-network": network,
    # Harmless where it arrives.
    "landlock-signals": lambda probe: refused(os.kill, os.getppid(), signal.SIGCONT),
    "landlock-abstract-sockets": abstract_sockets,
    "system-call-filter": system_calls,
}
