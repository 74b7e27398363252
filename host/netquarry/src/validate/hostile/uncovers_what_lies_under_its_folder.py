# failure: policy_violation at execute
# tainted: memory running, memory text
# message: PermissionError: [Errno 1]
# layer: seccomp
"""Where its folder is mounted, there is a disk beneath."""
import ctypes
import os

DETACH = 2
library = ctypes.CDLL(None, use_errno=True)
if library.umount2(os.fsencode(os.getcwd()), DETACH) != 0:
    raise OSError(ctypes.get_errno(), "it stays covered")
