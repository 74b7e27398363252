"""Tries what a layer of the sandbox has to refuse, as soon as the layer is said to be there."""

import ctypes
import errno
import fcntl
import os
import resource
import signal
import socket
import termios

from netquarry_worker import confinement

# <sys/prctl.h>
PR_GET_NO_NEW_PRIVS = 39

# What is written at once to fill a file system.
PIECE = bytes(64 << 10)

_library = ctypes.CDLL(None, use_errno=True)


def holds(layer, probe):
    """Whether the layer does what it is there for. One that nobody knows how to try does not count."""
    return layer in CANARIES and CANARIES[layer](probe)


def listen(probe):
    """Listens under the name under which the host listens, where this process has names of its own: that nothing is heard
    under it would show of no layer that it refuses anything. Has to be called before the first layer; the socket has to be
    kept."""
    listener = socket.socket(socket.AF_UNIX)
    try:
        listener.bind("\0" + probe["abstract_socket"])
        listener.listen()
    except OSError:
        listener.close()  # The name is taken: the host is heard.
        return None
    return listener


def refused(attempt, *arguments):
    """Whether an attempt was refused; one that fails for another reason shows nothing."""
    try:
        attempt(*arguments)
    except PermissionError:
        return True
    except OSError:
        return False
    return False


def own_namespaces(probe):
    """Whether they are none of the host's, there is no network in them, and the host is not heard."""
    kinds = ("user", "mnt", "net", "ipc")
    if any(probe["namespaces"].get(kind) in (None, os.readlink(f"/proc/self/ns/{kind}")) for kind in kinds):
        return False
    if [name for _, name in socket.if_nameindex()] != ["lo"]:
        return False
    with socket.socket() as connection:
        return connection.connect_ex(("127.0.0.1", probe["port"])) == errno.ENETUNREACH


def own_scratch(probe):
    """Whether it takes no more than it should: neither bytes nor files. What was written is left, for the host to see that
    it cannot see it."""

    def write(number):
        with open(f"bytes-{number}", "wb", buffering=0) as file:
            file.write(PIECE)

    most_pieces = probe["scratch_bytes"] // len(PIECE)
    if not is_full(write, most_pieces + 1):
        return False
    for name in os.listdir():
        os.unlink(name)
    return is_full(lambda number: open(f"file-{number}", "wb").close(), probe["scratch_files"] + 1)


def is_full(attempt, times):
    """Whether there is no room any more before something was done so many times."""
    try:
        for number in range(times):
            attempt(number)
    except OSError as error:
        return error.errno == errno.ENOSPC
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
    "namespaces": own_namespaces,
    "scratch-directory": lambda probe: os.path.samefile(".", os.environ["TMPDIR"]),
    "private-scratch": own_scratch,
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
