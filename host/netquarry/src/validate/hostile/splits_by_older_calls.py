# failure: policy_violation at execute
# message: PermissionError: [Errno 1]
# tainted: exit text, memory running, memory text
# layer: seccomp
# effect: processes
import ctypes
import os

library = ctypes.CDLL(None, use_errno=True)
for fork in (library.fork, library.vfork):
    if (child := fork()) == 0:
        os._exit(0)
    if child > 0:
        raise RuntimeError("there are two of it")
raise OSError(ctypes.get_errno(), "it stays alone")
