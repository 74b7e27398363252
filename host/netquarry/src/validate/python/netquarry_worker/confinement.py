"""What a child gives up before it runs foreign code.

Every step that took effect is named in the list that the verdict keeps; one that the system refuses is left out. What
must hold is the host's decision: it finds out at the start what this machine can do, and no child runs with less.
"""

import ctypes
import os
import resource
import signal
import struct

from netquarry_worker import namespaces

# <sys/prctl.h>
PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_SET_NO_NEW_PRIVS = 38
# <linux/seccomp.h>
SECCOMP_MODE_FILTER = 2
# <linux/capability.h>
CAPABILITY_VERSION = 0x20080522
CAP_DAC_READ_SEARCH = 2
# <asm-generic/unistd.h>; the number is the same on all processors.
LANDLOCK_ADD_RULE = 445
LANDLOCK_RESTRICT_SELF = 446
# <linux/landlock.h>
LANDLOCK_RULE_PATH_BENEATH = 1

_library = ctypes.CDLL(None, use_errno=True)
_prctl = _library.prctl
_prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
_system_call = _library.syscall
_system_call.argtypes = [ctypes.c_long] * 5
_system_call.restype = ctypes.c_long


class Filter(ctypes.Structure):
    """`struct sock_fprog`: a program of the kernel's packet filter, eight bytes an instruction."""

    _fields_ = [("length", ctypes.c_ushort), ("program", ctypes.c_void_p)]


def protect_worker():
    """Closes the worker's memory to its children, which run as the same user."""
    _prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def give_up_privileges():
    """Neither this process nor what it starts can get more than it has; without this the kernel takes no restriction."""
    return _prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0


def capabilities():
    """Six numbers: the effective, permitted and inheritable ones below 32, and then those above."""
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)
    held = (ctypes.c_uint32 * 6)()
    if _library.capget(header, held) != 0:
        raise OSError(ctypes.get_errno(), "the capabilities of this process are not told")
    return list(held)


# As this process had them at its start: whoever makes a user namespace has all of them in it.
_effective, _permitted = (held & 1 << CAP_DAC_READ_SEARCH for held in capabilities()[:2])


def give_up_capabilities():
    """Takes from root all that it can do and other users cannot, but to read whatever the mode of a file says: what is
    read is for Landlock to decide, and the bundle may lie in another user's folder. Others have nothing to give up but
    what they can do in namespaces of their own."""
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)
    return _library.capset(header, (ctypes.c_uint32 * 6)(_effective, _permitted)) == 0


def detach(parent):
    """Gives the child a session of its own, which ends with the process that forked it."""
    os.setsid()
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(0)  # The worker ended before the line above could tell.


def keep_only(*descriptors):
    """Closes every descriptor but the standard three and these; returns their new numbers."""
    # Duplicated upwards first, so that they cannot be closed with the others.
    first = max(3, *descriptors) + 1
    kept = [os.dup2(old, new, inheritable=False) for new, old in enumerate(descriptors, first)]
    os.closerange(3, first)
    os.closerange(first + len(kept), 1 << 20)
    return kept


def enter(scratch):
    """Makes a folder the place where this process works and keeps what it keeps."""
    os.chdir(scratch)
    os.umask(0o077)
    for name in ("HOME", "TMPDIR", "XDG_CACHE_HOME", "TORCH_HOME"):
        os.environ[name] = scratch


def apply(settings, job, ruleset=None):
    """Confines this process for good; yields the name of each protection once it is in force."""
    yield "process-group"
    if settings["namespaces"]:
        yield "namespaces"
    has_own_scratch = settings["private_scratch"] and have_own_scratch(settings, job["scratch"], ruleset)
    enter(job["scratch"])
    yield "scratch-directory"
    if has_own_scratch:
        yield "private-scratch"
    limit_resources(settings["limits"] | {what: job[what] for what in ("memory_bytes", "file_bytes")})
    yield "rlimits"
    if give_up_capabilities():
        yield "capabilities"
    if give_up_privileges():
        yield "no-new-privileges"
        if ruleset is not None and restrict(ruleset):
            yield from settings["landlock"]
        own_process = struct.pack("=I", os.getpid())
        placeholder = struct.pack("=I", settings["own_process"])
        filters = [bytes.fromhex(program).replace(placeholder, own_process) for program in settings["filters"]]
        # A system call is refused if any of the filters refuses it.
        if filters and all(map(install_filter, filters)):
            yield "system-call-filter"


def have_own_scratch(settings, folder, ruleset):
    """Mounts a file system over the scratch folder, before the ruleset forbids it; whether there is one to write to. What
    lies in it lies no longer in the folder that the ruleset allows, so that it has to be allowed too."""
    if not namespaces.mount_scratch(folder, settings["limits"]["file_bytes"]):
        return False
    if ruleset is None:
        return True
    root = os.open(folder, os.O_PATH)
    rule = ctypes.create_string_buffer(struct.pack("=Qi", settings["scratch_rights"], root))
    added = _system_call(LANDLOCK_ADD_RULE, ruleset, LANDLOCK_RULE_PATH_BENEATH, ctypes.addressof(rule), 0) == 0
    os.close(root)
    return added


def restrict(ruleset):
    """Restricts this process to a Landlock ruleset that the host made, and closes it; whether it holds now."""
    holds = _system_call(LANDLOCK_RESTRICT_SELF, ruleset, 0, 0, 0) == 0
    os.close(ruleset)
    return holds


def confine_importer(filters):
    """Filters the system calls of a worker that imports foreign code before it forks; whether that holds. Its children add
    the rest."""
    return all(install_filter(bytes.fromhex(program)) for program in filters)


def limit_resources(limits, for_good=True):
    """Sets limits; hard ones, which only a privileged process could raise again, unless they are to be lifted later."""
    with open("/proc/self/statm", encoding="ascii") as statm:
        address_space = int(statm.read().split()[0]) * resource.getpagesize()
    # Below what torch has mapped already nothing could be allocated at all.
    memory = address_space + limits["memory_bytes"]
    for what, most, hardly in (
        # A signal at the soft limit tells the host what happened; whoever ignores it is killed at the hard one.
        (resource.RLIMIT_CPU, limits["cpu_seconds"], limits["cpu_seconds"] + 1),
        (resource.RLIMIT_AS, memory, memory),
        (resource.RLIMIT_FSIZE, limits["file_bytes"], limits["file_bytes"]),
        (resource.RLIMIT_NOFILE, limits["descriptors"], limits["descriptors"]),
        (resource.RLIMIT_CORE, 0, 0),
    ):
        resource.setrlimit(what, (most, hardly if for_good else resource.getrlimit(what)[1]))
    # Writing past the limit is an error in the block, not the end of its process.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


def lift_limits():
    """Takes back the limits that were not set for good."""
    for what in (resource.RLIMIT_CPU, resource.RLIMIT_AS, resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE):
        hard = resource.getrlimit(what)[1]
        resource.setrlimit(what, (hard, hard))


def install_filter(program):
    """Installs a seccomp filter that the host compiled."""
    buffer = ctypes.create_string_buffer(program, len(program))
    filter_ = Filter(len(program) // struct.calcsize("HBBI"), ctypes.addressof(buffer))
    return _prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(filter_), 0, 0) == 0
