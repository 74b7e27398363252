"""Namespaces of our own, as far as the machine lets somebody have them who is not root.

The worker leaves the host's once, and its children are in the worker's: there is no network in it but a loopback device
that is down, and nothing of the older kind of shared memory. A child takes one thing more, a copy of the mounts, so that
it can have a file system of its own where its scratch folder is. Making a user namespace takes milliseconds, copying the
mounts a tenth of one.
"""

import ctypes
import os

# <linux/sched.h>
CLONE_NEWNS = 0x00020000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000
# <linux/mount.h>
MS_NOSUID = 1 << 1
MS_NODEV = 1 << 2
MS_NOEXEC = 1 << 3
MS_REC = 1 << 14
MS_SLAVE = 1 << 19

# A scratch folder holds a file for so many of its bytes: what a file takes beside its content is memory of the kernel.
BYTES_PER_FILE = 16 << 10

_library = ctypes.CDLL(None, use_errno=True)
_mount = _library.mount
_mount.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_ulong, ctypes.c_char_p]


def leave_those_of_host():
    """Whether this process is in namespaces of its own now. If not, it is where it was."""
    # Some machines let everybody make namespaces and nobody use them, and there is no way back out of one; so another
    # process tries first.
    return _succeeds_in_another_process(_leave) and _leave()


def mount_scratch(folder, most_bytes):
    """Puts an empty file system that only this process sees where a folder is; it is gone with the process. It lies in
    memory, and what it holds is limited: the bytes, and the number of files."""
    # A limit of zero would be none.
    options = f"mode=700,size={max(1, most_bytes)},nr_inodes={1 + most_bytes // BYTES_PER_FILE}"
    flags = MS_NOSUID | MS_NODEV | MS_NOEXEC
    if _library.unshare(CLONE_NEWNS) != 0:
        return False
    return _mount(b"netquarry-scratch", os.fsencode(folder), b"tmpfs", flags, options.encode()) == 0


def _leave():
    own_process = os.getpid()
    waits, has_left = os.pipe()
    # Only who is outside can give root's namespace the users of the one that it leaves.
    mapper = os.fork()
    if mapper == 0:
        status = 1
        try:
            os.close(has_left)
            os.read(waits, 1)
            _map_users(own_process)
            status = 0
        finally:
            os._exit(status)
    os.close(waits)
    left = _library.unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC) == 0
    os.close(has_left)
    mapped = os.waitpid(mapper, 0)[1] == 0
    # What the host mounts from now on is seen here, and nothing that is mounted here is seen there.
    return left and mapped and _mount(None, b"/", None, MS_REC | MS_SLAVE, None) == 0


def _map_users(process):
    """Everybody has the same number in the namespace as outside. Of one that is not root's, only the user is in it."""
    folder = f"/proc/{process}"
    if os.geteuid() == 0:
        # Else root could not read the files of others.
        for kind in ("uid_map", "gid_map"):
            with open(f"/proc/self/{kind}", encoding="ascii") as file:
                ranges = [line.split() for line in file]
            _write(f"{folder}/{kind}", "".join(f"{first} {first} {count}\n" for first, _, count in ranges))
    else:
        _write(f"{folder}/setgroups", "deny")
        _write(f"{folder}/uid_map", f"{os.geteuid()} {os.geteuid()} 1")
        _write(f"{folder}/gid_map", f"{os.getegid()} {os.getegid()} 1")


def _write(path, text):
    """In one piece: the kernel takes a map once."""
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def _succeeds_in_another_process(attempt):
    process = os.fork()
    if process == 0:
        status = 1
        try:
            status = 0 if attempt() else 1
        finally:
            os._exit(status)
    return os.waitpid(process, 0)[1] == 0
